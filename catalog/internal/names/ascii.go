// Package names judges names: labels of DNS, releases of bundles, and the
// classes of characters that they are made of.
package names

// Only reports whether every byte of s is of the class. The empty string
// is.
func Only(s string, class func(byte) bool) bool {
	for i := range len(s) {
		if !class(s[i]) {
			return false
		}
	}
	return true
}

// IsDigit reports whether b is an ASCII digit.
func IsDigit(b byte) bool { return '0' <= b && b <= '9' }

// IsLower reports whether b is an ASCII lower-case letter.
func IsLower(b byte) bool { return 'a' <= b && b <= 'z' }

// IsLetter reports whether b is an ASCII letter.
func IsLetter(b byte) bool { return IsLower(b) || 'A' <= b && b <= 'Z' }

// IsAlnum reports whether b is an ASCII letter or digit.
func IsAlnum(b byte) bool { return IsLetter(b) || IsDigit(b) }

// IsLowerAlnum reports whether b is an ASCII lower-case letter or digit.
func IsLowerAlnum(b byte) bool { return IsLower(b) || IsDigit(b) }

// IsLowerHex reports whether b is a hex digit, none of its letters upper-case.
func IsLowerHex(b byte) bool { return IsDigit(b) || 'a' <= b && b <= 'f' }

// IsHex reports whether b is a hex digit.
func IsHex(b byte) bool { return IsLowerHex(b) || 'A' <= b && b <= 'F' }
