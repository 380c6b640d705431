package fairlead

// The seam below FileStore, for tests that cut and fail it.
type (
	FileSystem = fileSystem
	SyncFile   = syncFile
)

// OpenFileStoreOn opens a FileStore on a file system of the test's.
func OpenFileStoreOn(d FileSystem) (*FileStore, error) { return openFileStore("disk", d) }
