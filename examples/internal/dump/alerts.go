package dump

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/fairlead/fairlead/cvo"
	"github.com/fairlead/fairlead/internal/doc"
)

// Alerts reads what Prometheus answers to /api/v1/alerts. Where there is no such file the
// list is nil: nobody has looked. Errors name the file.
func Alerts(name string) ([]cvo.Alert, error) {
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var answer struct {
		Data struct {
			Alerts []cvo.Alert `json:"alerts"`
		} `json:"data"`
	}
	if err == nil {
		_, err = doc.Parse(text, doc.Limits{})
	}
	if err == nil {
		err = json.Unmarshal(text, &answer)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return append([]cvo.Alert{}, answer.Data.Alerts...), nil
}
