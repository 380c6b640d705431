package durations_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/durations"
)

type inner struct {
	Wait time.Duration `json:"wait,omitempty"`
	Name string        `json:"name"`
}

type embedded struct {
	Grace time.Duration `json:"grace,omitzero"`
}

type policy struct {
	Min      time.Duration            `json:"min,omitempty"`
	Max      time.Duration            `json:"max"`
	ByName   map[string]time.Duration `json:"byName,omitempty"`
	List     []inner                  `json:"list,omitempty"`
	Pointer  *inner                   `json:"pointer,omitempty"`
	Plain    []string                 `json:"plain,omitempty"`
	When     time.Time                `json:"when,omitzero"`
	NoTag    int
	Internal func() `json:"-"`
	embedded
}

func (p policy) MarshalJSON() ([]byte, error)     { return durations.Marshal(p) }
func (p *policy) UnmarshalJSON(data []byte) error { return durations.Unmarshal(data, p) }

func TestRoundTrip(t *testing.T) {
	full := policy{
		Min: time.Second, Max: 90 * time.Minute, ByName: map[string]time.Duration{"b": 1, "a": time.Hour},
		List: []inner{{Wait: time.Minute}, {Name: "x"}}, Pointer: &inner{Wait: -time.Second}, Plain: []string{"p"},
		When: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), NoTag: 3, embedded: embedded{Grace: time.Millisecond},
	}
	for _, tt := range []struct {
		p    policy
		want string
	}{
		{policy{}, `{"max":"0s","NoTag":0}`},
		{full, `{"min":"1s","max":"1h30m0s","byName":{"a":"1h0m0s","b":"1ns"},"list":[{"wait":"1m0s","name":""},{"name":"x"}],` +
			`"pointer":{"wait":"-1s","name":""},"plain":["p"],"when":"2026-03-01T12:00:00Z","NoTag":3,"grace":"1ms"}`},
	} {
		data, err := json.Marshal(tt.p)
		if err != nil || string(data) != tt.want {
			t.Errorf("got  %s, %v\nwant %s", data, err, tt.want)
		}
		var back policy
		if err := json.Unmarshal(data, &back); err != nil || !reflect.DeepEqual(back, tt.p) {
			t.Errorf("%s came back as %+v, %v", data, back, err)
		}
	}
}

func TestErrors(t *testing.T) {
	for in, want := range map[string]string{
		`{"mim":"1s"}`:                `there is no field "mim": there are min, max,`,
		`{"min":"soon"}`:              `min: "soon" is not a duration: write it as in 1h30m or 10s`,
		`{"list":[{},{"wait":true}]}`: `list[1].wait: json: cannot unmarshal bool`,
		`{"byName":{"a":"x"}}`:        `byName[a]: "x" is not a duration`,
		`{"pointer":{"nam":"x"}}`:     `pointer: there is no field "nam"`,
		`[]`:                          `json: cannot unmarshal array`,
	} {
		var p policy
		if err := json.Unmarshal([]byte(in), &p); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s\n got %v\nwant %s", in, err, want)
		}
	}
	var p policy
	if err := json.Unmarshal([]byte(`{"min":1000000000}`), &p); err != nil || p.Min != time.Second {
		t.Errorf("nanoseconds: %v, %v", p.Min, err)
	}
}
