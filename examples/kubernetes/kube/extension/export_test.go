package extension

// WatchedKinds returns the kinds that the controller watches.
var WatchedKinds = watchedKinds
