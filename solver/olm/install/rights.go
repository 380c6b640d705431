package install

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/solver/olm"
	"github.com/fairlead/fairlead/solver/olm/group"
	"github.com/fairlead/fairlead/solver/olm/internal/calls"
	"github.com/fairlead/fairlead/solver/olm/scope"
)

// Operators are installed with the rights of the service account that their
// operator group names. What follows from a CSV is known before its plan starts, and
// judged then; each write names the account, so that whoever carries it out enforces
// the limit. Only CRDs, and roles for APIs that are the namespace's own, are written
// with the rights of the backend. The checks here explain; they do not enforce.

// accountRequired is the error of a group without a service account where the policy
// requires one.
type accountRequired struct{ group olm.ObjectMeta }

func (e *accountRequired) Error() string {
	return fmt.Sprintf("operator group %s names no service account, and the policy requires one in this namespace; set spec.serviceAccountName", e.group)
}

// limits reports whether the groups of a namespace must name a service account.
func (p *Policy) limits(namespace string) bool {
	return p.RequireAccount && !slices.Contains(p.Unlimited, namespace)
}

// acting returns the service account in whose name the objects of the namespace's
// operators are written, "" for the rights of the backend. The error says why nothing
// may be written at all.
func (s *stepper) acting() (as string, err error) {
	g, err := group.Sole(s.groups, s.Namespace)
	if err != nil {
		return "", err
	}
	account := scope.Account{Namespace: s.Namespace, Name: g.Spec.ServiceAccountName}
	switch {
	case account.Name == "" && s.policy.limits(s.Namespace):
		return "", &accountRequired{g.ObjectMeta}
	case account.Name != "" && !slices.Contains(s.Accounts, account):
		return "", &scope.AccountError{Group: g.ObjectMeta, Account: account}
	}
	return account.Name, nil
}

// may says why steps must not be taken, or returns nil.
func (s *stepper) may(steps ...scope.Step) error {
	if s.barred != nil || s.as == "" {
		return s.barred
	}
	for i := range steps {
		steps[i].Patch = s.Applies
	}
	return scope.Judge(scope.Account{Namespace: s.Namespace, Name: s.as}, &s.Access, steps)
}

// reasonOf returns the reason of an error of may, and who can fix it.
func reasonOf(err error) (reason, owner string) {
	var sole *group.SoleError
	var account *scope.AccountError
	var required *accountRequired
	switch {
	case errors.As(err, &sole):
		return string(sole.Reason()), "whoever owns the operator groups"
	case errors.As(err, &account):
		return group.ServiceAccountMissing, theAccount
	case errors.As(err, &required):
		return ReasonAccountRequired, "whoever owns the operator group"
	}
	return ReasonNotPermitted, theAccount
}

const theAccount = "whoever owns the operator group and its service account"

func (s *stepper) refuse(subject string, err error, unblock string) {
	reason, owner := reasonOf(err)
	s.block(subject, reason, err.Error(), owner, unblock)
}

// writes are the objects that are written for a CSV beside the steps of its plan, as
// steps that the account must be allowed to take.
func (s *stepper) writes(c *CSV) []scope.Step {
	if s.as == "" {
		return nil
	}
	var all []scope.Step
	for _, d := range c.Spec.Install.Spec.Deployments {
		all = append(all, scope.Step{Group: "apps", Kind: "Deployment", Resource: "deployments", Namespace: s.Namespace, Name: d.Name, Exists: c.Deployed != ""})
	}
	if s.Serves {
		for _, deployment := range c.called() {
			all = append(all, s.secretStep(calls.Secret(deployment)))
		}
		for _, d := range s.servings(c, true) {
			all = append(all, s.stepOf(&d))
		}
	}
	op, err := c.Member()
	if err != nil || s.own == nil {
		return all // it is not deployed
	}
	for _, d := range slices.Concat(s.grants(c, &op), s.copies(c, op)) {
		all = append(all, s.stepOf(&d))
	}
	return all
}

func (s *stepper) secretStep(name string) scope.Step {
	return scope.Step{Kind: kindSecret, Resource: "secrets", Namespace: s.Namespace, Name: name, Exists: s.certificate(name) != nil}
}

// stepOf is the step that writes a derived object.
func (s *stepper) stepOf(d *derived) scope.Step {
	exists := slices.ContainsFunc(s.Generated, func(o Object) bool { return o.Ref == d.ref })
	step, err := scope.StepOf(d.manifest(), d.ref.Namespace, exists)
	if err != nil { // it has neither rules nor a role
		step = scope.Step{Group: d.ref.Group, Kind: d.ref.Kind, Resource: scope.Plural(d.ref.Kind), Namespace: d.ref.Namespace, Name: d.ref.Name, Exists: exists}
	}
	return step
}

// home is the namespace whose operator an object of a step belongs to, "" if none is
// known.
func (s *stepper) home(o *Object) string {
	if o.Home == "" && o.Owner != "" {
		return s.Namespace
	}
	return o.Home
}

// foreign says whose the cluster-scoped object is that a step would change, or returns
// "" if nobody else's. With the rights of the backend a CRD may be shared: then package
// crd decides.
func (s *stepper) foreign(ref Ref, digest string) string {
	if ref.Namespace != "" {
		return ""
	}
	home := ""
	if stage(ref.Group, ref.Kind) == 1 {
		is := s.crds[ref.Name]
		switch {
		case s.as == "":
			return ""
		case is == nil:
			return s.reserved(ref)
		case is.Digest == digest || is.Home == s.Namespace:
			return ""
		}
		home = is.Home
	} else {
		is := s.objects[ref]
		if is == nil || is.Digest == digest || s.home(is) == s.Namespace {
			return ""
		}
		home = s.home(is)
	}
	return fmt.Sprintf("%s exists and belongs to %s, so it cannot be written for namespace %s", ref, whose(home), s.Namespace)
}

// whose names the owner of a cluster-scoped object.
func whose(home string) string {
	if home == "" {
		return "nobody that is known here"
	}
	return "the operators of namespace " + home
}

// reserved says that a CRD would define an API of Kubernetes itself, or returns "". Roles
// for it would give rights over what exists already.
func (s *stepper) reserved(ref Ref) string {
	_, apiGroup, _ := strings.Cut(ref.Name, ".")
	for _, suffix := range []string{"k8s.io", "kubernetes.io"} {
		if apiGroup == suffix || strings.HasSuffix(apiGroup, "."+suffix) {
			return fmt.Sprintf("%s would be in an API group of Kubernetes, which only an administrator may define: namespace %s is limited to service account %s", ref, s.Namespace, s.as)
		}
	}
	return ""
}

func (s *stepper) foreignBlock(subject, text string) {
	s.block(subject, ReasonNameTaken, text, "whoever owns that object", "delete or rename that object, or use another version of the operator; it is not changed until then")
}

// possesses reports whether a CRD was written for an operator of the namespace.
func (s *stepper) possesses(c *CRD) bool { return c != nil && c.Home == s.Namespace }

// own reports whether the roles for an API may be written with the rights of the
// backend: they give everyone who may read, edit or administer a namespace rights over
// the API, so it must be one that this namespace's operators have brought.
func (s *stepper) ownAPI(o *group.Owned) bool {
	if s.as == "" {
		return true
	}
	if o.Service {
		ref := Ref{Group: groupRegistration, Kind: kindAPIService, Name: o.Version + "." + o.Group}
		return slices.ContainsFunc(s.Generated, func(g Object) bool { return g.Ref == ref && g.Owner == s.Namespace })
	}
	return s.possesses(s.crds[o.Plural+"."+o.Group])
}

// claims returns the namespaces in which the group of another namespace counts. One that
// is limited to a service account counts where that account may create CSVs, and never
// for operators that are installed without limits: so it cannot keep others from
// providing their APIs.
func (s *stepper) claims(g *group.OperatorGroup, limited bool) []string {
	name := g.Spec.ServiceAccountName
	switch {
	case name == "" && s.policy.limits(g.Namespace), name != "" && !limited:
		return nil
	case name == "":
		return g.Status.Namespaces
	}
	var targets []string
	for _, n := range g.Status.Namespaces {
		step := scope.Step{Group: groupOLM, Kind: kindCSV, Resource: "clusterserviceversions", Namespace: n, Patch: s.Applies}
		if n == g.Namespace || scope.Judge(scope.Account{Namespace: g.Namespace, Name: name}, &s.Access, []scope.Step{step}) == nil {
			targets = append(targets, n)
		}
	}
	return targets
}

// limited reports whether the operators of the namespace are limited to a service account.
func (s *stepper) limited() bool {
	if s.policy.limits(s.Namespace) {
		return true
	}
	g, err := group.Sole(s.groups, s.Namespace)
	return err == nil && g.Spec.ServiceAccountName != ""
}

// refusedOf returns the refused steps of an error of may, by object; all is true if
// nothing may be written.
func refusedOf(err error) (steps map[Ref]bool, all bool) {
	var refused *scope.RefusedError
	if !errors.As(err, &refused) {
		return nil, err != nil
	}
	steps = make(map[Ref]bool)
	for _, r := range refused.Refusals {
		steps[Ref{Group: r.Step.Group, Kind: r.Step.Kind, Namespace: r.Step.Namespace, Name: r.Step.Name}] = true
	}
	return steps, false
}

// asRefused returns the error with which an API server refuses what an account may not
// do.
func asRefused(err error) error {
	if err == nil {
		return nil
	}
	return &fairlead.RefusedError{Code: 403, Reason: "Forbidden", Message: err.Error()}
}

// unowned reports whether the group should name a service account and does not: then not
// even its own roles are written.
func (s *stepper) unowned() bool {
	var required *accountRequired
	return errors.As(s.barred, &required)
}
