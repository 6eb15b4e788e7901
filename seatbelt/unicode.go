package seatbelt

import (
	"strings"
	"sync"
	"unicode/utf8"
)

// A volume finds a name whether its letters are written composed (é) or as
// letter and mark (e, acute), and keeps the form it was given; profiles
// compare bytes. So a deny is written in both forms.
//
// The tables cover Latin with Vietnamese, Greek, Cyrillic, kana and Hangul.
// Letters outside them are emitted as they were given.

// marks lists, per combining mark, the letters that compose with it and, in
// the same order, what they become (Unicode 15, canonical pairs that are not
// excluded from composition).
var marks = []struct {
	mark           rune
	plain, letters string
}{
	{0x300, "AEIOUaeiouÜüNnЕИеиĒēŌōWwÂâĂăÊêÔôƠơƯưYy", "ÀÈÌÒÙàèìòùǛǜǸǹЀЍѐѝḔḕṐṑẀẁẦầẰằỀềỒồỜờỪừỲỳ"},                                                                                                     // grave accent
	{0x301, "AEIOUYaeiouyCcLlNnRrSsZzÜüGgÅåÆæØø¨ΑΕΗΙΟΥΩϊαεηιϋουωϒГКгкÇçĒēÏïKkMmÕõŌōPpŨũWwÂâĂăÊêÔôƠơƯư", "ÁÉÍÓÚÝáéíóúýĆćĹĺŃńŔŕŚśŹźǗǘǴǵǺǻǼǽǾǿ΅ΆΈΉΊΌΎΏΐάέήίΰόύώϓЃЌѓќḈḉḖḗḮḯḰḱḾḿṌṍṒṓṔṕṸṹẂẃẤấẮắẾếỐốỚớỨứ"}, // acute accent
	{0x302, "AEIOUaeiouCcGgHhJjSsWwYyZzẠạẸẹỌọ", "ÂÊÎÔÛâêîôûĈĉĜĝĤĥĴĵŜŝŴŵŶŷẐẑẬậỆệỘộ"},                                                                                                                 // circumflex accent
	{0x303, "ANOanoIiUuVvÂâĂăEeÊêÔôƠơƯưYy", "ÃÑÕãñõĨĩŨũṼṽẪẫẴẵẼẽỄễỖỗỠỡỮữỸỹ"},                                                                                                                         // tilde
	{0x304, "AaEeIiOoUuÜüÄäȦȧÆæǪǫÖöÕõȮȯYyИиУуGgḶḷṚṛ", "ĀāĒēĪīŌōŪūǕǖǞǟǠǡǢǣǬǭȪȫȬȭȰȱȲȳӢӣӮӯḠḡḸḹṜṝ"},                                                                                                     // macron
	{0x306, "AaEeGgIiOoUuУИиуЖжАаЕеȨȩẠạ", "ĂăĔĕĞğĬĭŎŏŬŭЎЙйўӁӂӐӑӖӗḜḝẶặ"},                                                                                                                             // breve
	{0x307, "CcEeGgIZzAaOoBbDdFfHhMmNnPpRrSsŚśŠšṢṣTtWwXxYyſ", "ĊċĖėĠġİŻżȦȧȮȯḂḃḊḋḞḟḢḣṀṁṄṅṖṗṘṙṠṡṤṥṦṧṨṩṪṫẆẇẊẋẎẏẛ"},                                                                                     // dot above
	{0x308, "AEIOUaeiouyYΙΥιυϒЕІеіАаӘәЖжЗзИиОоӨөЭэУуЧчЫыHhÕõŪūWwXxt", "ÄËÏÖÜäëïöüÿŸΪΫϊϋϔЁЇёїӒӓӚӛӜӝӞӟӤӥӦӧӪӫӬӭӰӱӴӵӸӹḦḧṎṏṺṻẄẅẌẍẗ"},                                                                     // diaeresis
	{0x309, "AaÂâĂăEeÊêIiOoÔôƠơUuƯưYy", "ẢảẨẩẲẳẺẻỂểỈỉỎỏỔổỞởỦủỬửỶỷ"},                                                                                                                                 // hook above
	{0x30a, "AaUuwy", "ÅåŮůẘẙ"}, // ring above
	{0x30b, "OoUuУу", "ŐőŰűӲӳ"}, // double acute accent
	{0x30c, "CcDdEeLlNnRrSsTtZzAaIiOoUuÜüGgKkƷʒjHh", "ČčĎďĚěĽľŇňŘřŠšŤťŽžǍǎǏǐǑǒǓǔǙǚǦǧǨǩǮǯǰȞȟ"}, // caron
	{0x30f, "AaEeIiOoRrUuѴѵ", "ȀȁȄȅȈȉȌȍȐȑȔȕѶѷ"},                                               // double grave accent
	{0x311, "AaEeIiOoRrUu", "ȂȃȆȇȊȋȎȏȒȓȖȗ"},                                                   // inverted breve
	{0x31b, "OoUu", "ƠơƯư"}, // horn
	{0x323, "BbDdHhKkLlMmNnRrSsTtVvWwZzAaEeIiOoƠơUuƯưYy", "ḄḅḌḍḤḥḲḳḶḷṂṃṆṇṚṛṢṣṬṭṾṿẈẉẒẓẠạẸẹỊịỌọỢợỤụỰựỴỵ"}, // dot below
	{0x324, "Uu", "Ṳṳ"},     // diaeresis below
	{0x325, "Aa", "Ḁḁ"},     // ring below
	{0x326, "SsTt", "ȘșȚț"}, // comma below
	{0x327, "CcGgKkLlNnRrSsTtEeDdHh", "ÇçĢģĶķĻļŅņŖŗŞşŢţȨȩḐḑḨḩ"}, // cedilla
	{0x328, "AaEeIiUuOo", "ĄąĘęĮįŲųǪǫ"},                         // ogonek
	{0x32d, "DdEeLlNnTtUu", "ḒḓḘḙḼḽṊṋṰṱṶṷ"},                     // circumflex accent below
	{0x32e, "Hh", "Ḫḫ"},         // breve below
	{0x330, "EeIiUu", "ḚḛḬḭṴṵ"}, // tilde below
	{0x331, "BbDdKkLlNnRrTtZzh", "ḆḇḎḏḴḵḺḻṈṉṞṟṮṯẔẕẖ"}, // macron below
	{0x3099, "かきくけこさしすせそたちつてとはひふへほうゝカキクケコサシスセソタチツテトハヒフヘホウワヰヱヲヽ", "がぎぐげござじずぜぞだぢづでどばびぶべぼゔゞガギグゲゴザジズゼゾダヂヅデドバビブベボヴヷヸヹヺヾ"}, // katakana-hiragana voiced sound mark
	{0x309a, "はひふへほハヒフヘホ", "ぱぴぷぺぽパピプペポ"}, // katakana-hiragana semi-voiced sound mark
}

// pair is a letter and a combining mark.
type pair struct{ letter, mark rune }

// composed and decomposed are made at the first name that needs them: no run
// on Linux does, and few on macOS.
var (
	composed = sync.OnceValue(func() map[pair]rune {
		letters := map[pair]rune{}
		eachMark(func(p pair, c rune) { letters[p] = c })
		return letters
	})
	decomposed = sync.OnceValue(func() map[rune]pair {
		pairs := map[rune]pair{}
		eachMark(func(p pair, c rune) { pairs[c] = p })
		return pairs
	})
)

// eachMark calls add with every pair of the tables and what it composes to.
func eachMark(add func(p pair, c rune)) {
	for _, row := range marks {
		plain := []rune(row.plain)
		for i, c := range []rune(row.letters) {
			add(pair{plain[i], row.mark}, c)
		}
	}
}

// Hangul syllables follow from their jamo by arithmetic (Unicode, 3.12).
const (
	syllables                = 0xac00
	leads, vowels, tails     = 0x1100, 0x1161, 0x11a7
	leadCount, vowelN, tailN = 19, 21, 28
	syllableCount            = leadCount * vowelN * tailN
)

// decompose writes s with letters and marks apart.
func decompose(s string) string {
	if isASCII(s) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		writeDecomposed(&b, r)
	}
	return b.String()
}

func writeDecomposed(b *strings.Builder, r rune) {
	if i := r - syllables; i >= 0 && i < syllableCount {
		b.WriteRune(leads + i/(vowelN*tailN))
		b.WriteRune(vowels + i%(vowelN*tailN)/tailN)
		if tail := i % tailN; tail > 0 {
			b.WriteRune(tails + tail)
		}
		return
	}
	if p, ok := decomposed()[r]; ok {
		writeDecomposed(b, p.letter)
		b.WriteRune(p.mark)
		return
	}
	b.WriteRune(r)
}

// compose writes s with every letter and the marks right behind it in one.
func compose(s string) string {
	if isASCII(s) {
		return s
	}
	var out []rune
	for _, r := range decompose(s) {
		if n := len(out); n > 0 {
			if c, ok := join(out[n-1], r); ok {
				out[n-1] = c
				continue
			}
		}
		out = append(out, r)
	}
	return string(out)
}

// join composes two neighbours.
func join(a, b rune) (rune, bool) {
	if c, ok := composed()[pair{a, b}]; ok {
		return c, true
	}
	if a >= leads && a < leads+leadCount && b >= vowels && b < vowels+vowelN {
		return syllables + ((a-leads)*vowelN+(b-vowels))*tailN, true
	}
	if i := a - syllables; i >= 0 && i < syllableCount && i%tailN == 0 && b > tails && b < tails+tailN {
		return a + (b - tails), true
	}
	return 0, false
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
