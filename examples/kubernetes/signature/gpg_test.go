package signature_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/examples/kubernetes/signature"
)

// gpg is a GnuPG with its own home directory.
type gpg struct {
	tb   testing.TB
	home string
}

// newGPG returns a gpg, or skips the test. Its agent is stopped with the test.
func newGPG(tb testing.TB) *gpg {
	tb.Helper()
	for _, binary := range []string{"gpg", "gpgconf", "gpg-agent"} {
		if _, err := exec.LookPath(binary); err != nil {
			tb.Skipf("no GnuPG here to compare with (%v): install Debian's packages with apt-get install gpg gpg-agent", err)
		}
	}
	home, err := os.MkdirTemp("", "gpg") // the path of its socket must be short
	if err != nil {
		tb.Fatal(err)
	}
	g := &gpg{tb, home}
	tb.Cleanup(func() {
		stop := exec.Command("gpgconf", "--kill", "all")
		stop.Env = append(os.Environ(), "GNUPGHOME="+home)
		_ = stop.Run()
		os.RemoveAll(home)
	})
	return g
}

// run runs gpg, and returns its output and whether it succeeds.
func (g *gpg) run(input []byte, args ...string) (string, bool) {
	cmd := exec.CommandContext(g.tb.Context(), "gpg", append([]string{"--homedir", g.home, "--batch", "--yes", "--no-tty", "--passphrase", "", "--pinentry-mode", "loopback"}, args...)...)
	cmd.Stdin = bytes.NewReader(input)
	var out bytes.Buffer
	cmd.Stdout = &out
	err := cmd.Run()
	return out.String(), err == nil
}

// must runs gpg, which must succeed.
func (g *gpg) must(input []byte, args ...string) []byte {
	g.tb.Helper()
	out, ok := g.run(input, args...)
	if !ok {
		g.tb.Fatalf("gpg %s failed: %s", strings.Join(args, " "), out)
	}
	return []byte(out)
}

// good reports whether GnuPG accepts a message without reservation: for
// signatures by expired and revoked keys it reports that they are good, but by
// such keys.
func (g *gpg) good(message []byte) bool {
	out, ok := g.run(message, "--status-fd", "1", "--decrypt", "--output", filepath.Join(g.home, "out"))
	return ok && strings.Contains(out, "[GNUPG:] GOODSIG ")
}

// Messages that GnuPG signs are trusted, and those that it rejects are not:
// for keys of several kinds, at several times, with changes.
func TestGPG(t *testing.T) {
	g := newGPG(t)
	now := time.Now()
	type made struct {
		name    string
		message []byte
	}
	var messages []made
	past := now.AddDate(0, 0, -30).UTC().Format("20060102T150405")
	for _, key := range []struct{ id, kind, until string }{
		{"rsa", "rsa3072", "never"},
		{"ed25519", "ed25519", "never"},
		{"nistp256", "nistp256", "never"},
		{"gone", "ed25519", "5d"},
	} {
		g.must(nil, "--faked-system-time", past, "--quick-generate-key", key.id+"@example.com", key.kind, "sign", key.until)
		for name, args := range map[string][]string{
			"plain":        {"--compress-algo", "none"},
			"zip":          {"--compress-algo", "zip"},
			"bzip2":        {"--compress-algo", "bzip2"},
			"sha512":       {"--digest-algo", "SHA512"},
			"text":         {"--textmode"},
			"short":        {"--faked-system-time", past, "--default-sig-expire", "2d"},
			"long":         {"--faked-system-time", past, "--default-sig-expire", "1y"},
			"another":      {"--compress-algo", "none"},
			"another-name": {"--compress-algo", "none"},
		} {
			if key.id == "gone" && name != "short" && name != "long" {
				args = append(args, "--faked-system-time", past)
			}
			message := g.must([]byte(statement(digest)), append(args, "--local-user", key.id+"@example.com", "--sign")...)
			switch name {
			case "another":
				message = bytes.Replace(message, []byte(digest), []byte(other), 1)
			case "another-name":
				message = bytes.Replace(message, []byte(image), []byte(strings.ToUpper(image)), 1)
			}
			messages = append(messages, made{key.id + " " + name, message})
		}
	}
	ring := g.must(nil, "--export", "--armor")
	k, err := signature.ParseKeyring("gpg", ring)
	if err != nil {
		t.Fatal(err)
	}
	compare := func(k *signature.Keyring) (trusted int) {
		t.Helper()
		for _, m := range messages {
			v := verifier(t, []*signature.Keyring{k}, &signature.Options{Clock: fairlead.SystemClock{}}, hold("gpg", m.message))
			err := v.Verify(t.Context(), digest)
			if theirs := g.good(m.message); theirs != (err == nil) {
				t.Errorf("%s: GnuPG says %v; we say %v", m.name, theirs, err)
			}
			if err == nil {
				trusted++
			}
		}
		return trusted
	}
	if trusted := compare(k); trusted != 18 {
		t.Errorf("%d of %d messages are trusted, want 18", trusted, len(messages))
	}

	// GnuPG has already written a revocation certificate for each key.
	fingerprint := k.Keys()[1]
	text, err := os.ReadFile(filepath.Join(g.home, "openpgp-revocs.d", fingerprint+".rev"))
	if err != nil {
		t.Fatal(err)
	}
	g.must(bytes.Replace(text, []byte(":-----BEGIN"), []byte("-----BEGIN"), 1), "--import")
	k, err = signature.ParseKeyring("gpg", g.must(nil, "--export", "--armor"))
	if err != nil {
		t.Fatal(err)
	}
	if trusted := compare(k); trusted != 12 {
		t.Errorf("after a key was revoked %d of %d messages are trusted, want 12", trusted, len(messages))
	}
}
