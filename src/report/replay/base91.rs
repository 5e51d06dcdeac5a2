//! Bytes as digits from `#` to `~` except `<`, which are text in a page: two digits are 13 bits, the lower ones first.
//! Base64 is 8% longer.

/// The digits of these bytes.
pub(super) fn encode(bytes: &[u8]) -> String {
    let digit = |digit: u32| char::from(digit as u8 + if digit < 25 { b'#' } else { b'$' });
    let mut text = String::with_capacity(bytes.len() * 16 / 13 + 2);
    let (mut bits, mut count) = (0, 0);
    for &byte in bytes {
        bits |= u32::from(byte) << count;
        count += 8;
        if count >= 13 {
            text.extend([digit(bits % 8192 % 91), digit(bits % 8192 / 91)]);
            bits >>= 13;
            count -= 13;
        }
    }
    match count {
        0 => {}
        // One digit has room for these, and does not decode to another byte.
        1..=5 => text.push(digit(bits)),
        _ => text.extend([digit(bits % 91), digit(bits / 91)]),
    }
    text
}

/// The bytes of these digits; `None` if there is another character. There may be one more byte of zeros.
pub(super) fn decode(text: &str) -> Option<Vec<u8>> {
    let digit = |digit: u8| match digit {
        b'#'..=b';' => Some(u32::from(digit - b'#')),
        b'='..=b'~' => Some(u32::from(digit - b'$')),
        _ => None,
    };
    let mut bytes = Vec::with_capacity(text.len() * 13 / 16 + 1);
    let (mut bits, mut count) = (0, 0);
    for pair in text.as_bytes().chunks(2) {
        let high = pair.get(1).map_or(Some(0), |&high| digit(high))?;
        bits |= (digit(pair[0])? + high * 91) << count;
        count += 13;
        while count >= 8 {
            bytes.push(bits as u8);
            bits >>= 8;
            count -= 8;
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_digits_have_13_bits() {
        let lengths: Vec<usize> = (0..=13).map(|bytes| encode(&vec![0xff; bytes]).len()).collect();
        assert_eq!(lengths, [0, 2, 3, 4, 6, 7, 8, 9, 10, 12, 13, 14, 15, 16]);
        assert_eq!((encode(&[0; 13]), encode(&[0xff; 13])), ("#".repeat(16), "$~".repeat(8)));
        let all: Vec<u8> =
            (0..=255).flat_map(|first| (0..=255).flat_map(move |next| [first, next])).collect();
        let digits = encode(&all);
        assert!(digits.bytes().all(|digit| matches!(digit, b'#'..=b'~') && digit != b'<'));
        assert!(decode(&digits).expect("digits").starts_with(&all));
        assert_eq!(decode("##<#"), None);
    }
}
