package cvo

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo/diagnosis/failure"
	"github.com/fairlead/fairlead/internal/shell"
)

// Refused is a requested update that the cluster does not begin.
type Refused struct {
	Release Release `json:"release"` // as requested; version and image may be empty
	// Check is where it failed, as ReleaseAccepted reports it: RetrievePayload,
	// VerifyPayloadVersion, LoadPayload, PreconditionChecks, or InvalidClusterVersion.
	Check string `json:"check"`
	// Reasons are those of the preconditions, as in AdminAckRequired, in the order of the
	// message, each once; of another check, Check alone.
	Reasons []string  `json:"reasons"`
	Message string    `json:"message"`        // all that is reported
	Cause   string    `json:"cause"`          // the clause that says most, on one line
	Since   time.Time `json:"since,omitzero"` // since when
	// Signature is whether its signature is missing or does not fit.
	Signature bool `json:"signature,omitempty"`
}

var (
	failedCheck   = regexp.MustCompile(`Precondition "[^"]+" failed because of "([^"]+)"`)
	failedVersion = regexp.MustCompile(`version="([^"]*)"`)
	failedImage   = regexp.MustCompile(`image="([^"]*)"`)
	digest        = regexp.MustCompile(`sha256:[0-9a-f]{64}`)
)

// RefusedUpdate returns the requested update that the cluster refuses: its condition
// ReleaseAccepted is False, or Invalid is True. It is nil if there is none.
func RefusedUpdate(cv *ClusterVersion) *Refused {
	c := fairlead.FindCondition(cv.Status.Conditions, "Invalid")
	if c == nil || c.Status != True {
		c = fairlead.FindCondition(cv.Status.Conditions, "ReleaseAccepted")
		if c == nil || c.Status != False {
			return nil
		}
	}
	r := &Refused{Check: c.Reason, Message: c.Message, Since: c.LastTransitionTime}
	if u := cv.Spec.DesiredUpdate; u != nil {
		r.Release = Release{Version: u.Version, Image: u.Image, Architecture: u.Architecture}
	}
	take := func(field *string, x *regexp.Regexp) {
		if m := x.FindStringSubmatch(c.Message); m != nil && *field == "" {
			*field = m[1]
		}
	}
	take(&r.Release.Version, failedVersion)
	take(&r.Release.Image, failedImage)
	if digest.FindString(r.Release.Image) == "" {
		if image := offeredImage(cv, r.Release.Version); image != "" {
			r.Release.Image = image
		}
	}
	if c.Type == "Invalid" {
		r.Check = "InvalidClusterVersion"
	}
	for _, m := range failedCheck.FindAllStringSubmatch(c.Message, -1) {
		if !slices.Contains(r.Reasons, m[1]) {
			r.Reasons = append(r.Reasons, m[1])
		}
	}
	if r.Reasons == nil {
		r.Reasons = []string{r.Check}
	}
	r.Signature = c.Reason == "RetrievePayload" && strings.Contains(c.Message, "cannot be verified")
	r.Cause = r.cause()
	return r
}

// offeredImage returns the image of a release that the cluster is offered; "" if it is not.
func offeredImage(cv *ClusterVersion, version string) string {
	for i := range cv.Status.AvailableUpdates {
		if u := &cv.Status.AvailableUpdates[i]; u.Version == version {
			return u.Image
		}
	}
	for i := range cv.Status.ConditionalUpdates {
		if u := &cv.Status.ConditionalUpdates[i].Release; u.Version == version {
			return u.Image
		}
	}
	return ""
}

// cause says in a clause why the update was refused.
func (r *Refused) cause() string {
	if r.Signature {
		return "its signature cannot be verified"
	}
	text := r.Message
	if at := failedCheck.FindStringIndex(text); at != nil {
		text = strings.TrimPrefix(text[at[1]:], ": ")
		if k := strings.Index(text, "\n* Precondition "); k > 0 {
			text = text[:k]
		}
		return strings.Join(r.Reasons, ", ") + ": " + clauseOf(text, most)
	}
	if _, after, ok := strings.Cut(text, " failure="); ok {
		text = after
	}
	return clauseOf(text, most)
}

// Of reports whether the refused update is to a release.
func (r *Refused) Of(to Release) bool {
	return r != nil && (r.Release.Version != "" && r.Release.Version == to.Version || r.Release.Image != "" && SameImage(r.Release.Image, to.Image))
}

// Digest is the digest of its image, as in sha256:…; "" if unknown.
func (r *Refused) Digest() string { return digest.FindString(r.Release.Image) }

// Help says what to do about it, and the command that does it. Gates are those of the
// cluster, nil if unknown. Withdrawing the request always helps.
func (r *Refused) Help(cv *ClusterVersion, gates *AdminGates) (next, command string) {
	has := func(reason string) bool { return slices.Contains(r.Reasons, reason) }
	switch {
	case r.Signature && strings.Contains(r.Message, "against keyrings") && strings.Contains(r.Name(), "okd"):
		return "the release is signed with a key that the running release does not trust, as between streams of OKD: if you trust the image, request it by its digest with --force, or withdraw the request: " + WithdrawCommand, WithdrawCommand
	case r.Signature:
		next = "make its signature available in a ConfigMap of openshift-config-managed, as a disconnected cluster needs, or withdraw the request: " + WithdrawCommand
		return next, cmp.Or(r.SignatureCommand(), WithdrawCommand)
	case has(ReasonOverrides) || hasOverrides(cv) && has("PreconditionChecks"):
		return "remove spec.overrides, or withdraw the request: " + WithdrawCommand, OverridesCommand()
	case has("AdminAckRequired"):
		next = "read what it says, and then acknowledge in the ConfigMap openshift-config/admin-acks, or withdraw the request: " + WithdrawCommand
		if gates != nil {
			for _, g := range gates.open(cv.Status.Desired.Version) {
				if gate, ok := strings.CutPrefix(g.risk, RiskAdminAck+"-"); ok {
					return next, AcknowledgeCommand(gate)
				}
			}
		}
		return next, "oc -n openshift-config-managed get configmap admin-gates -o yaml"
	case has("LowDesiredVersion"):
		return "withdraw the request: clusters are not downgraded", WithdrawCommand
	case r.Check == "InvalidClusterVersion":
		return "correct the field that it names, or withdraw the request", WithdrawCommand
	}
	return "fix the cause; it is then tried again. Or withdraw the request: " + WithdrawCommand, WithdrawCommand
}

// WithdrawCommand withdraws the request for an update that has not begun.
const WithdrawCommand = "oc adm upgrade --clear"

// OverridesCommand removes spec.overrides.
func OverridesCommand() string {
	return shell.Command("oc patch clusterversion version --type json -p %s", shell.JSON([]any{map[string]any{"op": "remove", "path": "/spec/overrides"}}))
}

// AcknowledgeCommand acknowledges a gate.
func AcknowledgeCommand(gate string) string {
	return shell.Command("oc -n openshift-config patch configmap admin-acks --type merge -p %s", shell.JSON(map[string]any{"data": map[string]any{gate: "true"}}))
}

// SignatureCommand stores the signature of the refused release, see [SignatureCommand]. If its
// digest is not known, the command finds that out by its version; it is empty if that is unknown, too.
func (r *Refused) SignatureCommand() string {
	if d := r.Digest(); d != "" {
		return SignatureCommand(d)
	}
	if r.Release.Version == "" {
		return ""
	}
	return "hash=$(" + shell.Command("oc adm release info %s -o %s", r.Release.Version, "jsonpath={.digest}") + " | cut -d: -f2) && " +
		"curl -fsSLo signature-1 https://mirror.openshift.com/pub/openshift-v4/signatures/openshift/release/sha256=$hash/signature-1 && " +
		"name=signature-sha256-$(printf %.16s $hash) && oc -n openshift-config-managed create configmap $name --from-file=sha256-$hash-1=signature-1 && " +
		"oc -n openshift-config-managed label configmap $name release.openshift.io/verification-signatures="
}

// SignatureCommand stores the signature of a release, by the digest of its image, in a
// cluster that cannot reach the places where signatures are published. It runs where both
// can be reached.
func SignatureCommand(digest string) string {
	hash := strings.TrimPrefix(digest, "sha256:")
	name := "signature-sha256-" + hash[:min(16, len(hash))]
	return shell.Command("curl -fsSLo signature-1 https://mirror.openshift.com/pub/openshift-v4/signatures/openshift/release/sha256=%s/signature-1", hash) + " && " +
		shell.Command("oc -n openshift-config-managed create configmap %s --from-file=sha256-%s-1=signature-1", name, hash) + " && " +
		shell.Command("oc -n openshift-config-managed label configmap %s release.openshift.io/verification-signatures=", name)
}

// Name is its version, or else its image.
func (r *Refused) Name() string {
	switch {
	case r.Release.Version != "":
		return r.Release.Version
	case r.Release.Image != "":
		return r.Release.Image
	}
	return "the requested release"
}

// most is how long the clause of a message may be.
const most = 200

// clauseOf returns the essence of a message, on one line: all of it if it is short, or the
// clause that says most. It is never cut at both ends.
func clauseOf(text string, most int) string {
	text = strings.TrimSuffix(strings.Join(strings.Fields(text), " "), ".")
	if len([]rune(text)) <= most {
		return text
	}
	return failure.Telling(text, most)
}
