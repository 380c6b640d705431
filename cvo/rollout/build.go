package rollout

// BuildState is the state of the build of a pool's image.
type BuildState string

// The states of builds.
const (
	BuildWaiting     BuildState = "Waiting"     // it has not begun
	BuildPrepared    BuildState = "Prepared"    // its prerequisites exist
	BuildRunning     BuildState = "Building"    // it is being built
	BuildSucceeded   BuildState = "Succeeded"   // the image exists
	BuildFailed      BuildState = "Failed"      // it could not be built
	BuildInterrupted BuildState = "Interrupted" // it was stopped
)

// Build is the build of the image for a pool.
type Build struct {
	Name  string     // its name for people
	State BuildState // its state
	Image string     // its result; empty until then
}

// awaited reports whether nodes wait for the build: there is no image yet, or
// the pool's configuration does not name it yet.
func (b *Build) awaited(p *Pool) bool {
	return b != nil && (b.State != BuildSucceeded || b.Image != "" && b.Image != p.Spec.Configuration.Image)
}

// outdates reports whether nodes that run the pool's current configuration do
// not count as updated, because another image is being built or should be.
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

// updating returns the condition Updating, by the build, of a pool that is not
// updated, or is paused.
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

// String describes the state of the build in a few words.
func (b *Build) String() string {
	how := "is " + string(b.State)
	switch b.State {
	case BuildWaiting:
		how = "has not begun"
	case BuildPrepared:
		how = "is prepared"
	case BuildRunning:
		how = "is in progress"
	case BuildSucceeded:
		how = "has succeeded"
	case BuildFailed:
		how = "has failed"
	case BuildInterrupted:
		how = "was interrupted"
	}
	return "the build of the pool's image " + how + " (" + b.Name + ")"
}
