package extension

// WatchedKinds are those that the controller watches.
var WatchedKinds = watchedKinds
