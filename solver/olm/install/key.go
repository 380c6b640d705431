package install

import (
	"strings"
	"time"

	"github.com/fairlead/fairlead"
)

// Kinds returns an action of each kind, so that a Decision can be read back from
// JSON. Their values do not matter.
func (s State) Kinds() []Action {
	return []Action{
		Unpack{},
		WritePlan{},
		DeletePlan{},
		UpdateSubscription{},
		CreateSubscription{},
		DeleteSubscription{},
		ApplyStep{},
		SetPhase{},
		Annotate{},
		Deploy{},
		Undeploy{},
		DeleteCSV{},
		DeleteObject{},
		UpdateGroup{},
		WriteObject{},
		WriteCondition{},
		IssueCertificate{},
		SetConversion{},
		ServeCatalog{},
		UpdateCatalog{},
		ReportUpgradeable{},
	}
}

func (Unpack) action()             {}
func (WritePlan) action()          {}
func (DeletePlan) action()         {}
func (UpdateSubscription) action() {}
func (CreateSubscription) action() {}
func (DeleteSubscription) action() {}
func (ApplyStep) action()          {}
func (SetPhase) action()           {}
func (Annotate) action()           {}
func (Deploy) action()             {}
func (Undeploy) action()           {}
func (DeleteCSV) action()          {}
func (DeleteObject) action()       {}
func (UpdateGroup) action()        {}
func (WriteObject) action()        {}
func (WriteCondition) action()     {}
func (IssueCertificate) action()   {}
func (SetConversion) action()      {}
func (ServeCatalog) action()       {}
func (UpdateCatalog) action()      {}
func (ReportUpgradeable) action()  {}

// Key implements [fairlead.Action].
func (a Unpack) Key() fairlead.Key {
	return fairlead.Key{Kind: "Unpack", ID: a.Source.String() + " " + a.Bundle}
}

// String implements [fairlead.Action].
func (a Unpack) String() string { return "unpack " + a.Source.String() + " " + a.Bundle }

// Key implements [fairlead.Action].
func (a WritePlan) Key() fairlead.Key {
	return fairlead.Key{Kind: "WritePlan", ID: a.Plan.Name + " " + string(a.Plan.Status.Phase)}
}

// String implements [fairlead.Action].
func (a WritePlan) String() string { return "write plan " + a.Key().ID }

// Key implements [fairlead.Action].
func (a DeletePlan) Key() fairlead.Key { return fairlead.Key{Kind: "DeletePlan", ID: a.Name} }

// String implements [fairlead.Action].
func (a DeletePlan) String() string { return "delete plan " + a.Name }

// Key implements [fairlead.Action].
func (a UpdateSubscription) Key() fairlead.Key {
	id := a.Name + " " + string(a.Status.State) + " " + a.Status.CurrentCSV + " " + a.Status.InstalledCSV
	for _, c := range a.Status.Conditions {
		id += " " + c.Type + "=" + c.Reason
	}
	return fairlead.Key{Kind: "UpdateSubscription", ID: strings.TrimSpace(id)}
}

// String implements [fairlead.Action].
func (a UpdateSubscription) String() string { return "update subscription " + a.Key().ID }

// Key implements [fairlead.Action].
func (a CreateSubscription) Key() fairlead.Key {
	return fairlead.Key{Kind: "CreateSubscription", ID: a.Subscription.Name}
}

// String implements [fairlead.Action].
func (a CreateSubscription) String() string { return "create subscription " + a.Subscription.Name }

// Key implements [fairlead.Action].
func (a DeleteSubscription) Key() fairlead.Key {
	return fairlead.Key{Kind: "DeleteSubscription", ID: a.Name}
}

// String implements [fairlead.Action].
func (a DeleteSubscription) String() string { return "delete subscription " + a.Name }

// Key implements [fairlead.Action].
func (a ApplyStep) Key() fairlead.Key {
	return fairlead.Key{Kind: "ApplyStep", ID: a.Plan + " " + a.Ref.String()}
}

// String implements [fairlead.Action].
func (a ApplyStep) String() string { return "apply " + a.Key().ID }

// Key implements [fairlead.Action].
func (a SetPhase) Key() fairlead.Key {
	return fairlead.Key{Kind: "SetPhase", ID: a.CSV + " " + string(a.Phase) + " " + a.Reason}
}

// String implements [fairlead.Action].
func (a SetPhase) String() string { return "phase " + a.Key().ID }

// Key implements [fairlead.Action].
func (a Annotate) Key() fairlead.Key { return fairlead.Key{Kind: "Annotate", ID: a.CSV} }

// String implements [fairlead.Action].
func (a Annotate) String() string { return "annotate " + a.CSV }

// Key implements [fairlead.Action].
func (a Deploy) Key() fairlead.Key { return fairlead.Key{Kind: "Deploy", ID: a.CSV} }

// String implements [fairlead.Action].
func (a Deploy) String() string { return "deploy " + a.CSV }

// Key implements [fairlead.Action].
func (a Undeploy) Key() fairlead.Key { return fairlead.Key{Kind: "Undeploy", ID: a.CSV} }

// String implements [fairlead.Action].
func (a Undeploy) String() string { return "undeploy " + a.CSV }

// Key implements [fairlead.Action].
func (a DeleteCSV) Key() fairlead.Key { return fairlead.Key{Kind: "DeleteCSV", ID: a.CSV} }

// String implements [fairlead.Action].
func (a DeleteCSV) String() string { return "delete csv " + a.CSV }

// Key implements [fairlead.Action].
func (a DeleteObject) Key() fairlead.Key {
	return fairlead.Key{Kind: "DeleteObject", ID: a.Ref.String()}
}

// String implements [fairlead.Action].
func (a DeleteObject) String() string { return "delete " + a.Ref.String() }

// Key implements [fairlead.Action].
func (a UpdateGroup) Key() fairlead.Key {
	return fairlead.Key{Kind: "UpdateGroup", ID: strings.TrimSpace(a.Name + " " + a.Provided.String())}
}

// String implements [fairlead.Action].
func (a UpdateGroup) String() string { return "update group " + a.Key().ID }

// Key implements [fairlead.Action].
func (a WriteObject) Key() fairlead.Key { return fairlead.Key{Kind: "WriteObject", ID: a.Ref.String()} }

// String implements [fairlead.Action].
func (a WriteObject) String() string { return "write " + a.Ref.String() }

// Key implements [fairlead.Action].
func (a WriteCondition) Key() fairlead.Key { return fairlead.Key{Kind: "WriteCondition", ID: a.Name} }

// String implements [fairlead.Action].
func (a WriteCondition) String() string { return "write condition " + a.Name }

// Key implements [fairlead.Action].
func (a ServeCatalog) Key() fairlead.Key {
	return fairlead.Key{Kind: "ServeCatalog", ID: a.Name + " " + a.Image}
}

// String implements [fairlead.Action].
func (a ServeCatalog) String() string { return "serve catalog " + a.Key().ID }

// Key implements [fairlead.Action].
func (a UpdateCatalog) Key() fairlead.Key { return fairlead.Key{Kind: "UpdateCatalog", ID: a.Name} }

// String implements [fairlead.Action].
func (a UpdateCatalog) String() string { return "update catalog " + a.Name }

// Key implements [fairlead.Action].
func (a ReportUpgradeable) Key() fairlead.Key {
	return fairlead.Key{Kind: "ReportUpgradeable", ID: string(a.Condition.Status)}
}

// String implements [fairlead.Action].
func (a ReportUpgradeable) String() string { return "report upgradeable " + string(a.Condition.Status) }

// Key implements [fairlead.Action].
func (a IssueCertificate) Key() fairlead.Key {
	return fairlead.Key{Kind: "IssueCertificate", ID: a.Name + " " + a.Trusted}
}

// String implements [fairlead.Action].
func (a IssueCertificate) String() string {
	return "issue certificate " + a.Name + " until " + a.NotAfter.UTC().Format(time.RFC3339)
}

// Key implements [fairlead.Action].
func (a SetConversion) Key() fairlead.Key {
	return fairlead.Key{Kind: "SetConversion", ID: strings.TrimSpace(a.CRD + " " + a.Digest)}
}

// String implements [fairlead.Action].
func (a SetConversion) String() string {
	if a.Service == "" {
		return "convert " + a.CRD + " no longer"
	}
	return "convert " + a.CRD + " by service " + a.Service
}
