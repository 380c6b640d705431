// Package cost measures what work costs: time of the processors, which a busy
// machine disturbs least, time on the clock, bytes allocated, and, by running
// the work in a process of its own, the peak of memory.
package cost
