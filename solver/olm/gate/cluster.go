package gate

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/fairlead/fairlead/internal/semverx"
	"github.com/fairlead/fairlead/solver/olm/resource"
)

// MaxOpenShiftProperty is the type of the property in which an operator states
// the last minor version of the cluster that it works on.
const MaxOpenShiftProperty = "olm.maxOpenShiftVersion"

// ReasonIncompatible is the reason if installed operators block an update of the
// cluster.
const ReasonIncompatible = "IncompatibleOperatorsInstalled"

// Incompatible is an installed operator that blocks an update of the cluster.
type Incompatible struct {
	Operator resource.ObjectMeta // its CSV
	// Max is the last version that it works on, as in "4.19", or "" if its
	// property cannot be read.
	Max     string
	Problem string // what is wrong, and how to fix it
}

// MaxOpenShift returns the last minor version of the cluster that an operator
// works on, as in "4.19", or "" if it states none. It is an error if the property
// is not a version, or if there are several.
//
// A number instead of a string is read as printed. That is ambiguous for 4.1 and
// 4.2, which may have been written as 4.10 and 4.20; these are errors.
func MaxOpenShift(csv *resource.ClusterServiceVersion) (string, error) {
	note, ok := csv.Annotations[resource.PropertiesAnnotation]
	if !ok {
		return "", nil
	}
	props, err := resource.ParseProperties(note)
	if err != nil {
		return "", err
	}
	var stated []string
	for _, p := range props {
		if p.Type == MaxOpenShiftProperty {
			stated = append(stated, string(p.Value))
		}
	}
	switch len(stated) {
	case 0:
		return "", nil
	case 1:
		return readMax(stated[0])
	}
	return "", fmt.Errorf("property %s is there %d times: %s; state it once", MaxOpenShiftProperty, len(stated), strings.Join(stated, ", "))
}

func readMax(value string) (string, error) {
	var text string
	if json.Unmarshal([]byte(value), &text) != nil {
		var number json.Number
		if json.Unmarshal([]byte(value), &number) != nil {
			return "", fmt.Errorf(`property %s is %s; write a version in quotes, such as "4.19"`, MaxOpenShiftProperty, value)
		}
		text = number.String()
		if _, minor, _ := strings.Cut(text, "."); minor == "1" || minor == "2" {
			return "", fmt.Errorf(`property %s is the number %s, which 4.%s0 prints as, too; write the version in quotes`, MaxOpenShiftProperty, text, minor)
		}
	}
	v, err := semverx.ParseTolerant(text)
	if err != nil || v.Major() == 0 {
		return "", fmt.Errorf(`property %s is %q, which is not a version; write one such as "4.19"`, MaxOpenShiftProperty, text)
	}
	return fmt.Sprintf("%d.%d", v.Major(), v.Minor()), nil
}

// ClusterUpdate decides whether a cluster may be updated to a version while
// operators are installed: each that states a last version must work on it.
// Only minor versions are compared, and only updates to another minor version
// are ever blocked. An operator whose property cannot be read counts as
// incompatible. Copies are skipped. The order is that of the CSVs.
//
// A current or target version that cannot be parsed is an error.
func ClusterUpdate(current, target string, csvs []resource.ClusterServiceVersion) (Verdict, []Incompatible, error) {
	from, err := minorOf(current)
	if err != nil {
		return Verdict{}, nil, err
	}
	to, err := minorOf(target)
	if err != nil {
		return Verdict{}, nil, err
	}
	if to.Compare(from) == 0 {
		return Verdict{Open: true}, nil, nil
	}
	var found []Incompatible
	for i := range csvs {
		if csvs[i].Copied() {
			continue
		}
		if f := incompatible(&csvs[i], to); f != nil {
			found = append(found, *f)
		}
	}
	if found == nil {
		return Verdict{Open: true}, nil, nil
	}
	texts := make([]string, len(found))
	for i, f := range found {
		texts[i] = fmt.Sprintf("%s: %s", f.Operator, f.Problem)
	}
	return Verdict{
		Reason:  ReasonIncompatible,
		Message: fmt.Sprintf("the cluster may not be updated to %d.%d: ", to.Major(), to.Minor()) + strings.Join(texts, "; "),
	}, found, nil
}

// NextMinor decides whether a cluster may be updated to its next minor version,
// as ClusterUpdate does.
func NextMinor(current string, csvs []resource.ClusterServiceVersion) (Verdict, []Incompatible, error) {
	from, err := minorOf(current)
	if err != nil {
		return Verdict{}, nil, err
	}
	return ClusterUpdate(current, fmt.Sprintf("%d.%d", from.Major(), from.Minor()+1), csvs)
}

func incompatible(csv *resource.ClusterServiceVersion, to semverx.Version) *Incompatible {
	limit, err := MaxOpenShift(csv)
	switch {
	case err != nil:
		return &Incompatible{Operator: csv.ObjectMeta, Problem: err.Error() + ", or remove the operator"}
	case limit == "":
		return nil
	}
	last, _ := semverx.ParseTolerant(limit) // MaxOpenShift wrote it
	if to.Compare(last) <= 0 {
		return nil
	}
	return &Incompatible{Operator: csv.ObjectMeta, Max: limit,
		Problem: fmt.Sprintf("works up to %s; update the operator first, or remove it", limit)}
}

// minorOf returns the version up to its minor number.
func minorOf(version string) (semverx.Version, error) {
	v, err := semverx.ParseTolerant(version)
	if err != nil {
		return v, fmt.Errorf("cluster version %q: %w; write one such as 4.19.3", version, err)
	}
	return semverx.ParseTolerant(fmt.Sprintf("%d.%d", v.Major(), v.Minor()))
}
