// Package cost measures what work costs: processor time, which a busy
// machine disturbs least, time on the clock, bytes allocated, and, by running
// the work in a process of its own, the peak of memory.
package cost
