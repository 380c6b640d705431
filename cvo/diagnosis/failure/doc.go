// Package failure recognises known failures of clusters in what objects say about
// themselves: conditions, the state of a container, an annotation with a reason.
//
// The table has a row for each failure: by which fields it is recognised, one sentence that
// says what is wrong, what to do, a command, and where the text comes from. [Recognise] looks
// at structured fields first (kind, type, reason) and at texts last. [Telling] finds the clause
// of any other message that says most.
//
// Messages are written by others. They are matched, and quoted as they are: a sink such as a
// terminal escapes them. Names that are put into commands are quoted for a POSIX shell.
//
// The package has no state; everything is safe for concurrent use.
package failure
