package rollout

// BuildState is how far the image is that a pool is to run.
type BuildState string

// The states of builds.
const (
	BuildWaiting     BuildState = "Waiting"     // it has not begun
	BuildPrepared    BuildState = "Prepared"    // what it needs is there
	BuildRunning     BuildState = "Building"    // it is being built
	BuildSucceeded   BuildState = "Succeeded"   // it is there
	BuildFailed      BuildState = "Failed"      // it could not be built
	BuildInterrupted BuildState = "Interrupted" // somebody has stopped it
)

// Build is the making of the image that a pool is to run.
type Build struct {
	Name  string     // what people know it by
	State BuildState // how far it is
	Image string     // what came of it; empty until then
}

// awaited reports whether nodes wait for the build: there is no image yet, or
// the pool was not told to run it.
func (b *Build) awaited(p *Pool) bool {
	return b != nil && (b.State != BuildSucceeded || b.Image != "" && b.Image != p.Spec.Configuration.Image)
}

// outdates reports whether nodes that run what the pool is to run by now do not
// count as updated, since another image is on its way or should be.
func (b *Build) outdates(p *Pool) bool {
	if b == nil {
		return false
	}
	switch b.State {
	case BuildPrepared, BuildRunning, BuildFailed:
		return true
	case BuildSucceeded:
		return b.awaited(p)
	}
	return false
}

// updating returns what a build makes of the condition Updating of a pool that
// is not updated, or paused.
func (b *Build) updating(paused bool) (holds bool, message string) {
	message = b.String()
	if paused {
		message = "Pool is paused; " + message
	}
	switch b.State {
	case BuildWaiting, BuildPrepared, BuildRunning:
		return true, message
	case BuildSucceeded:
		return !paused, message
	}
	return false, message
}

// String says in a few words how far the build is.
func (b *Build) String() string {
	how := "is " + string(b.State)
	switch b.State {
	case BuildWaiting:
		how = "has not begun"
	case BuildPrepared:
		how = "is prepared"
	case BuildRunning:
		how = "is under way"
	case BuildSucceeded:
		how = "has succeeded"
	case BuildFailed:
		how = "has failed"
	case BuildInterrupted:
		how = "was interrupted"
	}
	return "the build of the pool's image " + how + " (" + b.Name + ")"
}
