// Package cost measures what work costs: processor time, which is least affected
// by other load on the machine, wall-clock time, bytes allocated, and, by running
// the work in a process of its own, peak memory.
package cost
