package catalog

// onlyBytes reports whether every byte of s is of the class. The empty string
// is.
func onlyBytes(s string, class func(byte) bool) bool {
	for i := range len(s) {
		if !class(s[i]) {
			return false
		}
	}
	return true
}

func digitByte(b byte) bool      { return '0' <= b && b <= '9' }
func lowerByte(b byte) bool      { return 'a' <= b && b <= 'z' }
func letterByte(b byte) bool     { return lowerByte(b) || 'A' <= b && b <= 'Z' }
func alnumByte(b byte) bool      { return letterByte(b) || digitByte(b) }
func lowerAlnumByte(b byte) bool { return lowerByte(b) || digitByte(b) }
func lowerHexByte(b byte) bool   { return digitByte(b) || 'a' <= b && b <= 'f' }
func hexByte(b byte) bool        { return lowerHexByte(b) || 'A' <= b && b <= 'F' }
