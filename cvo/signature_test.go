package cvo_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/cvo"
)

// refusedFor returns a ClusterVersion that has refused 4.18.25 for want of its signature.
func refusedFor(image, offered string) *cvo.ClusterVersion {
	cv := &cvo.ClusterVersion{}
	cv.Spec.DesiredUpdate = &cvo.Update{Version: "4.18.25", Image: image}
	cv.Status.Conditions = []fairlead.Condition{{Type: "ReleaseAccepted", Status: cvo.False, Reason: "RetrievePayload", Message: `Retrieving payload failed version="4.18.25" failure=The update cannot be verified: no more signatures to check`}}
	if offered != "" {
		cv.Status.AvailableUpdates = []cvo.Release{{Version: "4.18.20", Image: "r@sha256:" + strings.Repeat("00", 32)}, {Version: "4.18.25", Image: offered}}
	}
	return cv
}

// The signature of a refused release is stored by its digest: that of the request, or else of the
// release that is offered, or else the one that its version has, which the command finds out.
func TestSignatureCommand(t *testing.T) {
	hash, other := strings.Repeat("ab", 32), strings.Repeat("cd", 32)
	// Programs that say what they were called with; oc knows the digest of the version.
	dir := t.TempDir()
	for name, text := range map[string]string{
		"curl": `echo "curl $*" >>"$LOG"`,
		"oc":   `echo "oc $*" >>"$LOG"; [ "$1 $2 $3" != "adm release info" ] || echo sha256:` + other,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ name, image, offered, hash string }{
		{"requested by image", "r@sha256:" + hash, "", hash},
		{"offered", "", "r@sha256:" + hash, hash},
		{"requested by a tag", "r:4.18.25", "r@sha256:" + hash, hash},
		{"by version alone", "", "", other},
	} {
		t.Run(c.name, func(t *testing.T) {
			log := filepath.Join(t.TempDir(), "log")
			cmd := exec.CommandContext(t.Context(), "sh", "-c", cvo.RefusedUpdate(refusedFor(c.image, c.offered)).SignatureCommand())
			cmd.Env = []string{"PATH=" + dir + ":" + os.Getenv("PATH"), "LOG=" + log}
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			text, err := os.ReadFile(log)
			if err != nil {
				t.Fatal(err)
			}
			short := "signature-sha256-" + c.hash[:16]
			for _, part := range []string{
				"/sha256=" + c.hash + "/signature-1\n", "create configmap " + short + " --from-file=sha256-" + c.hash + "-1=signature-1\n",
				"label configmap " + short + " release.openshift.io/verification-signatures=\n",
			} {
				if !strings.Contains(string(text), part) {
					t.Errorf("%q is missing:\n%s", part, text)
				}
			}
		})
	}
	nothing := refusedFor("", "")
	nothing.Spec.DesiredUpdate, nothing.Status.Conditions[0].Message = nil, "The update cannot be verified"
	if got := cvo.RefusedUpdate(nothing).SignatureCommand(); got != "" {
		t.Errorf("of an unknown release: %s", got)
	}
}
