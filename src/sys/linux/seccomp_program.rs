//! Makes the program that the kernel runs at every system call out of rules.
//!
//! It finds the number of a call by binary search, as libseccomp does when asked to optimise: some
//! seven comparisons instead of hundreds. Since Linux 5.11 the program does not run for calls that
//! are always allowed: the kernel determines them once and keeps a bit for each.

use libc::{
    BPF_ABS, BPF_ALU, BPF_AND, BPF_JA, BPF_JEQ, BPF_JGE, BPF_JGT, BPF_JMP, BPF_K, BPF_LD, BPF_RET,
    BPF_W, sock_filter,
};

/// What the kernel does with a call: a value of `SECCOMP_RET_`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Action(pub(super) u32);

/// The action for a call of that number whose arguments satisfy every condition.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    pub(super) number: u32,
    pub(super) conditions: Vec<Condition>,
    pub(super) action: Action,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Condition {
    pub(super) argument: u8,
    pub(super) test: Test,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Test {
    Equal(u64),
    NotEqual(u64),
    Below(u64),
    AtMost(u64),
    AtLeast(u64),
    Above(u64),
    Masked { mask: u64, value: u64 },
}

type Code = Vec<sock_filter>;

/// Offsets in `struct seccomp_data` of the number, the architecture and the arguments.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;
const ARGUMENTS: u32 = 16;

/// This machine's architecture as the kernel calls it (linux/audit.h).
pub(super) const HERE: u32 = if cfg!(target_arch = "aarch64") { 0xc000_00b7 } else { 0xc000_003e };

/// A filter that allows everything, which is the shortest one.
pub(super) fn allow_all() -> Code {
    give(Action(libc::SECCOMP_RET_ALLOW))
}

/// A filter by which every call stops for the tracer, where there is one.
pub(super) fn trace_all() -> Code {
    give(Action(libc::SECCOMP_RET_TRACE))
}

/// The filter for these rules. A call without a rule gets the default action, and so do all calls
/// of programs for another architecture. Of several rules for a call, one without conditions comes
/// first, the others follow in their order.
pub(super) fn program(default: Action, rules: &[Rule]) -> Result<Code, String> {
    if !cfg!(any(target_arch = "x86_64", target_arch = "aarch64")) {
        return Err("seccomp filters are made for x86-64 and 64-bit Arm only".into());
    }
    let calls = search(&ranges(default, rules));
    let elsewhere = give(default);
    let mut code = vec![load(ARCHITECTURE), jump(BPF_JEQ, HERE, elsewhere.len() as u8, 0)];
    code.extend(elsewhere);
    code.push(load(NUMBER));
    code.extend(calls);
    match code.len() <= libc::BPF_MAXINSNS as usize {
        true => Ok(code),
        false => Err(format!("the filter would have {} instructions, too many", code.len())),
    }
}

/// The action from each number on, up to the next one in the list.
fn ranges(default: Action, rules: &[Rule]) -> Vec<(u32, Code)> {
    let mut numbers: Vec<u32> = rules.iter().map(|rule| rule.number).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let mut ranges = vec![(0, give(default))];
    let mut add = |from: u32, code: Code| match ranges.last_mut() {
        Some((last, given)) if *last == from => *given = code,
        Some((_, given)) if *given == code => {}
        _ => ranges.push((from, code)),
    };
    for number in numbers {
        let own = rules.iter().filter(|rule| rule.number == number);
        add(number, for_one_call(default, own));
        add(number + 1, give(default));
    }
    ranges
}

fn for_one_call<'a>(default: Action, rules: impl Iterator<Item = &'a Rule> + Clone) -> Code {
    if let Some(always) = rules.clone().find(|rule| rule.conditions.is_empty()) {
        return give(always.action);
    }
    let mut code = Code::new();
    for rule in rules {
        let mut own = give(rule.action);
        for condition in rule.conditions.iter().rev() {
            let failed = own.len() as u8;
            own.splice(0..0, unless(condition, failed));
        }
        code.extend(own);
    }
    code.extend(give(default));
    code
}

/// Code that finds the range of the loaded number.
fn search(ranges: &[(u32, Code)]) -> Code {
    let [(_, only)] = ranges else {
        let (lower, upper) = ranges.split_at(ranges.len() / 2);
        let (from, lower, upper) = (upper[0].0, search(lower), search(upper));
        let mut code = match u8::try_from(lower.len()) {
            Ok(length) => vec![jump(BPF_JGE, from, length, 0)],
            Err(_) => {
                vec![jump(BPF_JGE, from, 0, 1), operation(BPF_JMP | BPF_JA, lower.len() as u32)]
            }
        };
        code.extend(lower);
        code.extend(upper);
        return code;
    };
    only.clone()
}

/// Code that skips `failed` instructions unless the condition holds. The machine has 32 bits, so
/// the upper half of an argument is compared first.
fn unless(condition: &Condition, failed: u8) -> Code {
    let place = ARGUMENTS + 8 * u32::from(condition.argument);
    let (upper, lower) = (load(place + 4), load(place));
    let halves = |value: u64| ((value >> 32) as u32, value as u32);
    let equal = |value: u64, held: u8, failed: u8| {
        let (high, low) = halves(value);
        vec![upper, jump(BPF_JEQ, high, 0, failed + 2), lower, jump(BPF_JEQ, low, held, failed)]
    };
    let above = |operator: u32, value: u64, held: u8, failed: u8| {
        let (high, low) = halves(value);
        vec![
            upper,
            jump(BPF_JGT, high, held + 3, 0),
            jump(BPF_JEQ, high, 0, failed + 2),
            lower,
            jump(operator, low, held, failed),
        ]
    };
    match condition.test {
        Test::Equal(value) => equal(value, 0, failed),
        Test::NotEqual(value) => equal(value, failed, 0),
        Test::Above(value) => above(BPF_JGT, value, 0, failed),
        Test::AtLeast(value) => above(BPF_JGE, value, 0, failed),
        Test::AtMost(value) => above(BPF_JGT, value, failed, 0),
        Test::Below(value) => above(BPF_JGE, value, failed, 0),
        Test::Masked { mask, value } => {
            let ((mask_high, mask_low), (high, low)) = (halves(mask), halves(value));
            vec![
                upper,
                operation(BPF_ALU | BPF_AND | BPF_K, mask_high),
                jump(BPF_JEQ, high, 0, failed + 3),
                lower,
                operation(BPF_ALU | BPF_AND | BPF_K, mask_low),
                jump(BPF_JEQ, low, 0, failed),
            ]
        }
    }
}

fn give(action: Action) -> Code {
    vec![operation(BPF_RET | BPF_K, action.0)]
}

fn load(offset: u32) -> sock_filter {
    operation(BPF_LD | BPF_W | BPF_ABS, offset)
}

fn operation(code: u32, k: u32) -> sock_filter {
    sock_filter { code: code as u16, jt: 0, jf: 0, k }
}

fn jump(operator: u32, k: u32, jt: u8, jf: u8) -> sock_filter {
    sock_filter { code: (BPF_JMP | operator | BPF_K) as u16, jt, jf, k }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DENY: Action = Action(libc::SECCOMP_RET_ERRNO | 1);
    const ALLOW: Action = Action(libc::SECCOMP_RET_ALLOW);

    /// The machine of the kernel, as far as these programs use it.
    fn run(code: &[sock_filter], architecture: u32, number: u32, arguments: [u64; 6]) -> u32 {
        let load = |offset: u32| match offset {
            NUMBER => number,
            ARCHITECTURE => architecture,
            other => {
                let word = (other - ARGUMENTS) / 4;
                (arguments[word as usize / 2] >> (32 * (word % 2))) as u32
            }
        };
        let (mut at, mut value) = (0, 0);
        loop {
            let sock_filter { code, jt, jf, k } = code[at];
            at += 1;
            let jump = |holds: bool| usize::from(if holds { jt } else { jf });
            match u32::from(code) {
                code if code == BPF_LD | BPF_W | BPF_ABS => value = load(k),
                code if code == BPF_RET | BPF_K => return k,
                code if code == BPF_JMP | BPF_JA => at += k as usize,
                code if code == BPF_ALU | BPF_AND | BPF_K => value &= k,
                code if code == BPF_JMP | BPF_JEQ | BPF_K => at += jump(value == k),
                code if code == BPF_JMP | BPF_JGT | BPF_K => at += jump(value > k),
                code if code == BPF_JMP | BPF_JGE | BPF_K => at += jump(value >= k),
                other => panic!("no instruction {other:#x}"),
            }
        }
    }

    fn rule(number: u32, tests: &[(u8, Test)]) -> Rule {
        let conditions =
            tests.iter().map(|(argument, test)| Condition { argument: *argument, test: *test });
        Rule { number, conditions: conditions.collect(), action: ALLOW }
    }

    #[test]
    fn every_number_gets_its_action() {
        let allowed: Vec<u32> =
            (0..2000).filter(|number| number % 3 == 0 || number % 7 < 2).collect();
        let rules: Vec<Rule> = allowed.iter().map(|number| rule(*number, &[])).collect();
        let code = program(DENY, &rules).unwrap();
        for number in (0..2100).chain([0x4000_0000, u32::MAX]) {
            let expected = if allowed.contains(&number) { ALLOW } else { DENY };
            assert_eq!(run(&code, HERE, number, [0; 6]), expected.0, "{number}");
        }
        assert_eq!(run(&code, HERE + 1, 0, [0; 6]), DENY.0, "another architecture");
        assert_eq!(run(&allow_all(), HERE, 1, [0; 6]), ALLOW.0);
    }

    #[test]
    fn arguments_are_compared_in_full() {
        const HIGH: u64 = 1 << 32;
        let middle = 5 * HIGH + 5;
        let values = [
            0,
            5,
            middle - HIGH,
            middle - 1,
            middle,
            middle + 1,
            middle + HIGH,
            6 * HIGH,
            u64::MAX,
        ];
        let mask = HIGH + 3;
        let tests: [(Test, &dyn Fn(u64) -> bool); 7] = [
            (Test::Equal(middle), &|value| value == middle),
            (Test::NotEqual(middle), &|value| value != middle),
            (Test::Below(middle), &|value| value < middle),
            (Test::AtMost(middle), &|value| value <= middle),
            (Test::AtLeast(middle), &|value| value >= middle),
            (Test::Above(middle), &|value| value > middle),
            (Test::Masked { mask, value: HIGH + 1 }, &|value| value & mask == HIGH + 1),
        ];
        for (test, holds) in tests {
            // Two equal conditions, so that a failed test has to skip another; then another
            // condition.
            let rules =
                [rule(7, &[(2, test), (2, test)]), rule(7, &[(2, test), (5, Test::Equal(1))])];
            let code = program(DENY, &rules).unwrap();
            for value in values {
                let expected = if holds(value) { ALLOW } else { DENY };
                let given = run(&code, HERE, 7, [9, 9, value, 9, 9, 9]);
                assert_eq!(given, expected.0, "{test:?} of {value:#x}");
            }
        }
    }

    #[test]
    fn one_rule_after_the_other() {
        let first = Rule {
            action: Action(libc::SECCOMP_RET_ERRNO | 22),
            ..rule(1, &[(0, Test::Equal(16))])
        };
        let code = program(DENY, &[first.clone(), rule(1, &[(1, Test::NotEqual(9))])]).unwrap();
        let given = |arguments: [u64; 6]| run(&code, HERE, 1, arguments);
        assert_eq!(given([16, 0, 0, 0, 0, 0]), first.action.0);
        assert_eq!(given([1, 0, 0, 0, 0, 0]), ALLOW.0);
        assert_eq!(given([1, 9, 0, 0, 0, 0]), DENY.0);
        let always = program(DENY, &[first, rule(1, &[])]).unwrap();
        assert_eq!(run(&always, HERE, 1, [16, 0, 0, 0, 0, 0]), ALLOW.0);
    }
}
