package cvo_test

import (
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/cvo"
)

// TestChannelHelp: what makes updates known depends on the channel, and on what the cluster
// says of its list.
func TestChannelHelp(t *testing.T) {
	for _, test := range []struct{ channel, reason, minor, want string }{
		{"stable-4.18", "", "4.18", ""},
		{"stable-4.18", "", "4.17", ""},
		{"stable-4.18", "", "4.19", "its channel stable-4.18 has no releases of 4.19: oc adm upgrade channel stable-4.19"},
		{"eus-4.18", "", "4.20", "oc adm upgrade channel eus-4.20"},
		{"eus-4.18", "", "4.19", "oc adm upgrade channel stable-4.19"},
		{"stable-scos-4", "", "4.19", ""},
		{"", "NoChannel", "4.19", "could not be retrieved (NoChannel); 4.18.2 is in fast-4.18; set one of them: oc adm upgrade channel fast-4.18"},
		{"stable-4.19", "VersionNotFound", "", "oc adm upgrade channel fast-4.18"},
		{"stable-4.18", "RemoteFailed", "4.18", "make sure that the update service is reachable"},
	} {
		cv := &cvo.ClusterVersion{}
		cv.Spec.Channel = test.channel
		cv.Status.Desired = cvo.Release{Version: "4.18.2", Channels: []string{"fast-4.18"}}
		if test.reason != "" {
			cv.Status.Conditions = []cvo.Condition{{Type: "RetrievedUpdates", Status: cvo.False, Reason: test.reason}}
		}
		got := cvo.ChannelHelp(cv, test.minor)
		if test.want == "" && got != "" || !strings.Contains(got, test.want) {
			t.Errorf("%s, %s, to %s: got %q, want %q", test.channel, test.reason, test.minor, got, test.want)
		}
	}
}

// TestAdviseChannel: without a channel no update is known, which is not "there is none"; and
// where a channel has none, another one may.
func TestAdviseChannel(t *testing.T) {
	cv := &cvo.ClusterVersion{}
	cv.Status.Desired = cvo.Release{Version: "4.18.2", Channels: []string{"stable-4.18", "stable-4.19"}}
	cv.Status.History = []cvo.History{{Version: "4.18.2", State: "Completed"}}
	cv.Status.AvailableUpdates = []cvo.Release{}
	if a := cvo.Advise(cv, nil, nil); !a.Unknown || !strings.Contains(a.Why, "no channel is set") {
		t.Error(a.Unknown, a.Why)
	}
	cv.Spec.Channel = "stable-4.18"
	if a := cvo.Advise(cv, nil, nil); a.Unknown || !strings.Contains(a.Why, "oc adm upgrade channel stable-4.19") {
		t.Error(a.Unknown, a.Why)
	}
}

// TestFailing: a failure without an update under way does not continue by itself, and what it
// names is shown.
func TestFailing(t *testing.T) {
	cv := &cvo.ClusterVersion{}
	cv.Status.History = []cvo.History{{Version: "4.18.2", State: "Completed"}}
	cv.Status.Conditions = []cvo.Condition{{Type: "Failing", Status: cvo.True, Reason: "UpdatePayloadFailed", Message: `Could not update deployment "openshift-dns/dns-operator" (5 of 9)`}}
	found := false
	for _, f := range cvo.Inspect(&cvo.Dump{Version: cv}, time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)).Findings {
		if f.Reason == "UpdatePayloadFailed" {
			found = true
			if strings.Contains(f.Next, "continues") || f.Command != "oc -n openshift-dns describe deployment dns-operator" {
				t.Error(f.Next, f.Command)
			}
		}
	}
	if !found {
		t.Error("the failure is not reported")
	}
}

// TestForeignKey: a signature of another key does not become good by a ConfigMap.
func TestForeignKey(t *testing.T) {
	cv := &cvo.ClusterVersion{}
	cv.Spec.DesiredUpdate = &cvo.Update{Version: "4.12.0-0.okd-2"}
	cv.Status.Conditions = []cvo.Condition{{Type: "ReleaseAccepted", Status: cvo.False, Reason: "RetrievePayload",
		Message: `Retrieving payload failed version="4.12.0-0.okd-2" image="r@sha256:` + strings.Repeat("0", 64) + `" failure=The update cannot be verified: unable to verify sha256:0 against keyrings: ci`}}
	next, command := cvo.RefusedUpdate(cv).Help(cv, nil)
	if command != "oc adm upgrade --clear" || !strings.Contains(next, "does not trust") {
		t.Error(next, command)
	}
}
