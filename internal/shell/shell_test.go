package shell_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/shell"
	"github.com/fairlead/fairlead/internal/words"
)

func ExampleCommand() {
	patch := map[string]any{"spec": map[string]any{"maxUnavailable": 1, "minAvailable": nil}}
	fmt.Println(shell.Command("oc -n %s patch pdb %s --type merge -p %s", "shop", "web", shell.JSON(patch)))
	fmt.Println(shell.Command("kubectl taint node %s %s", "w1$(reboot)", "dedicated=db:NoSchedule"))
	fmt.Println(shell.Command("oc adm drain %s --ignore-daemonsets", "--selector="))
	// Output:
	// oc -n shop patch pdb web --type merge -p '{"spec":{"maxUnavailable":1,"minAvailable":null}}'
	// kubectl taint node 'w1$(reboot)' dedicated=db:NoSchedule
	// oc adm drain --ignore-daemonsets -- --selector=
}

// TestCommand shows where operands go.
func TestCommand(t *testing.T) {
	for _, c := range []struct {
		want   string
		line   shell.Line
		values []string
	}{
		{"oc get nodes -o yaml", "oc get nodes -o yaml", nil},
		{"oc -n -x get pods -- -y", "oc -n %s get pods %s", []string{"-x", "-y"}},
		{"oc label node --overwrite -- -x a=b", "oc label node %s a=b --overwrite", []string{"-x"}},
		{"oc patch mcp --type merge -p '{}' -- -x", "oc patch mcp %s --type merge -p {}", []string{"-x"}},
		{"kubectl taint node -- a -k-", "kubectl taint node %s %s-", []string{"a", "-k"}},
		{"oc debug node/-x -- chroot /host", "oc debug node/%s -- chroot /host", []string{"-x"}},
		{"oc debug -- -x -- ls -x", "oc debug %s -- ls %s", []string{"-x", "-x"}},
		{"oc adm upgrade '--to= 4'", "oc adm upgrade --to=%s", []string{" 4"}},
		{"oc get 'a⟨U+000A⟩b⟨U+001B⟩'", "oc get %s", []string{"a\nb\x1b"}},
		{"oc get ''", "oc get %s", []string{""}},
		{"oc get %s -o 'jsonpath={.items[*].metadata.name}'", "oc get %s -o jsonpath={.items[*].metadata.name}", []string{"%s"}},
		{"oc get '=ls' '~root' 'a'\\''b' ü", "oc get %s %s %s %s", []string{"=ls", "~root", "a'b", "ü"}},
	} {
		want := strings.Replace(c.want, " ü", " 'ü'", 1)
		if got := shell.Command(c.line, c.values...); got != want {
			t.Errorf("%s %q\n got %s\nwant %s", c.line, c.values, got, want)
		}
	}
}

func TestJSON(t *testing.T) {
	text := "a'b\"<&>\x1b\u009b\u202e\u2028\n\U000e0041\x7f$(x)"
	got := shell.JSON(map[string]any{text: text})
	var back map[string]string
	if err := json.Unmarshal([]byte(got), &back); err != nil || back[text] != text {
		t.Fatalf("%s: %q, %v", got, back, err)
	}
	if words.VisibleLine(got) != got {
		t.Errorf("%q has hidden characters", got)
	}
}

// TestShell lets sh split commands of random values: it gets what was put in.
func TestShell(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no sh")
	}
	r := rand.New(rand.NewPCG(1, 2))
	pieces := []string{"a", "w1", "-", "--", "=", "$(touch x)", "`id`", "'", "\"", "\\", `\033[2J`, `\c`, `\n`, "-n ", "\n", "\t", "\x1b[2J", "*", "?", "[a]", "{b,c}", "~", "#", "!", "!!", ";", "&", "|", "<", ">", "(", ")", "$HOME", "${IFS}", " ", "%s", "ü", "\u202e", "\xff", "\u009b", "/", ":", "@", ",", "^", "\x00"}
	var script strings.Builder
	var want []string
	for range 1200 {
		value := ""
		for range r.IntN(5) {
			value += pieces[r.IntN(len(pieces))]
		}
		command := shell.Command("show %s -p %s --to=%s", value, value, value)
		script.WriteString(command + "\n")
		shown := words.VisibleLine(value)
		line := []string{shown, "-p", shown, "--to=" + shown}
		if strings.HasPrefix(value, "-") {
			line = []string{"-p", shown, "--to=" + shown, "--", shown}
		}
		script.WriteString("show \"$(" + shell.Print(value+"$") + ")\"\n") // $( ) drops line feeds at the end
		want = append(append(want, line...), shown+"$")
	}
	run := exec.Command(sh, "-c", `show() { for w; do printf '%s\0' "$w"; done; }`+"\n"+script.String())
	run.Dir = t.TempDir()
	run.Env = []string{"PATH=/nonexistent"}
	out, err := run.Output()
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	if !slices.Equal(got, want) {
		for i := range min(len(got), len(want)) {
			if got[i] != want[i] {
				t.Fatalf("word %d: got %q, want %q", i, got[i], want[i])
			}
		}
		t.Fatalf("%d words, want %d", len(got), len(want))
	}
}
