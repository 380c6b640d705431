package machines

import (
	"sync"
	"time"

	"github.com/fairlead/fairlead"
)

// ReasonCloud is the reason of a Block about a machine whose cloud does not answer.
const ReasonCloud = "CloudUnknown"

// RetryCloud is how soon a cloud that did not answer is asked again.
const RetryCloud = 30 * time.Second

// outages are the machines whose cloud did not answer the last question.
type outages struct {
	mu  sync.Mutex
	all map[string]outage
}

type outage struct {
	err   error
	since time.Time
}

// note records an answer about a machine, or that there was none.
func (o *outages) note(machine string, err error, now time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	was, is := o.all[machine]
	switch {
	case err == nil:
		delete(o.all, machine)
		return
	case !is:
		was.since = now
	}
	if o.all == nil {
		o.all = map[string]outage{}
	}
	was.err = err
	o.all[machine] = was
}

// Outage returns a Block about a machine, "namespace/name", whose cloud did not answer at
// the last observation; ok is false if it did.
func (b *Backend) Outage(machine string) (block fairlead.Block, ok bool) {
	b.outages.mu.Lock()
	defer b.outages.mu.Unlock()
	is, ok := b.outages.all[machine]
	if !ok {
		return block, false
	}
	return fairlead.Block{
		Subject: "machine " + machine, Reason: ReasonCloud, Message: "the cloud does not say whether its instance exists: " + is.err.Error(),
		Owner: "whoever runs the cloud", Since: is.since, Unblock: "restore access to the cloud; until then its finalizer stays; everything else goes on",
	}, true
}

// forget drops what is known of a machine.
func (o *outages) forget(machine string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.all, machine)
}
