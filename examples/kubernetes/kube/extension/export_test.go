package extension

// WatchedKinds returns the kinds that the controller watches.
var WatchedKinds = watchedKinds

// Read waits until nothing is being read in the background.
func (b *Backend) Read() {
	b.catalogs.Wait()
	b.bundles.Wait()
}
