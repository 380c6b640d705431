package lifecycle_test

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/fairlead/fairlead/lifecycle"
)

// A machine that is being deleted waits for the owner of its hook, and says so.
func ExampleStep() {
	var m lifecycle.Machine
	_ = json.Unmarshal([]byte(`{
		"metadata": {"name": "worker-1", "uid": "u1", "deletionTimestamp": "2026-03-01T12:00:00Z"},
		"spec": {"lifecycleHooks": {"preDrain": [
			{"name": "MigrateImportantApp", "owner": "my-app-migration-controller"}]}}}`), &m)
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	d := lifecycle.Step(lifecycle.State{}, &lifecycle.World{Machine: &m}, now, nil)
	for _, b := range d.Blocks() {
		fmt.Println(b.Message, "-", b.Owner)
	}
	// Output:
	// preDrain hook MigrateImportantApp is not removed - my-app-migration-controller
}

// Conditions are found by their type.
func ExampleFindCondition() {
	all := []lifecycle.Condition{{Type: lifecycle.ConditionDrainable, Status: "True"}}
	fmt.Println(lifecycle.FindCondition(all, lifecycle.ConditionDrainable).Status)
	// Output:
	// True
}
