// Package decimal reads the whole numbers that taints and tolerations compare.
package decimal

import (
	"errors"
	"strconv"
	"strings"
)

// Parse reads a whole number as Lt and Gt compare it: decimal, 64 bits, without
// "+" or leading zeros. The error says what is wrong and does not repeat the
// text.
func Parse(s string) (int64, error) {
	digits := strings.TrimPrefix(s, "-")
	switch {
	case digits == "":
		return 0, errors.New("it has no digits")
	case digits[0] == '0' && s != "0":
		return 0, errors.New("it is not in its shortest form: it begins with 0")
	}
	for i := range len(digits) {
		if digits[i] < '0' || digits[i] > '9' {
			return 0, errors.New("it is not a whole number: only digits are allowed, after an optional minus")
		}
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0, errors.New("it is outside the 64 bits of a whole number")
	}
	return n, nil
}
