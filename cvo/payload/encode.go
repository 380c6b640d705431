package payload

import (
	"bytes"
	"encoding/json"
)

// written is the JSON form of a Manifest. The resource is an object if that is
// lossless, else its text.
type written struct {
	ID          ID                `json:"id"`
	APIVersion  string            `json:"apiVersion,omitempty"`
	Annotations map[string]string `json:"annotations"` // null if the manifest has no such field
	File        string            `json:"file,omitempty"`
	Document    int               `json:"document,omitempty"`
	Pos         Position          `json:"pos,omitzero"`
	Name        FileName          `json:"name,omitzero"`
	Object      json.RawMessage   `json:"object,omitempty"`
	Text        *string           `json:"text,omitempty"`
	AsWritten   bool              `json:"asWritten,omitempty"`
}

// MarshalJSON writes the manifest so that UnmarshalJSON gives an equal one.
func (m *Manifest) MarshalJSON() ([]byte, error) {
	w := written{
		ID: m.ID, APIVersion: m.APIVersion, Annotations: m.Annotations, File: m.File, Document: m.Document, Pos: m.Pos, Name: m.Name, AsWritten: m.asWritten,
	}
	if again, err := json.Marshal(json.RawMessage(m.JSON)); err == nil && bytes.Equal(again, m.JSON) {
		w.Object = m.JSON
	} else if m.JSON != nil {
		text := string(m.JSON)
		w.Text = &text
	}
	return json.Marshal(w)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (m *Manifest) UnmarshalJSON(data []byte) error {
	var w written
	if err := json.Unmarshal(data, &w); err != nil {
		return err
	}
	*m = Manifest{
		ID: w.ID, APIVersion: w.APIVersion, Annotations: w.Annotations, File: w.File, Document: w.Document, Pos: w.Pos, Name: w.Name,
		JSON: w.Object, asWritten: w.AsWritten,
	}
	if w.Text != nil {
		m.JSON = []byte(*w.Text)
	}
	return nil
}
