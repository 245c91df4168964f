//! Rules that lead to themselves only where they have to: most grammars of tools are regular expressions then.

use super::{Expr, MOST_ROOM};

/// The rules of a grammar. Each names itself, or is too large to be written at each place.
#[derive(Debug)]
pub(crate) struct TextRules {
    pub(crate) start: Expr,
    pub(crate) rules: Vec<Expr>,
}

/// How much room rules may take beyond what they take as they are, since they are written at several places.
const MOST_MORE: usize = 5000;

/// How much room all that is written again on the way may take.
const MOST_STEPS: usize = 1 << 20;

/// The most options of a rule that names itself.
const MOST_OPTIONS: usize = 200;

/// The most rules; each may be compared with all others.
const MOST_RULES: usize = 300;

/// The most expressions within one another.
const MOST_DEPTH: usize = 150;

/// A rule, and what is known of it.
struct Known {
    expr: Expr,
    size: usize,
    depth: usize,
    /// The rules that it names, once for each place.
    named: Vec<usize>,
}

impl Known {
    fn new(expr: Expr) -> Self {
        let mut named = Vec::new();
        note_named(&expr, &mut named);
        Self { size: expr.size(), depth: expr.depth(), named, expr }
    }
}

fn note_named(expr: &Expr, named: &mut Vec<usize>) {
    if let Expr::Rule(rule) = expr {
        named.push(*rule);
    }
    expr.parts().iter().for_each(|part| note_named(part, named));
}

/// # Errors
///
/// Why no engine's grammar can enforce these rules.
pub(super) fn simplified(mut rules: Vec<Expr>, start: usize) -> Result<TextRules, String> {
    if rules.len() > MOST_RULES {
        return Err(format!("more than {MOST_RULES} rules"));
    }
    if rules.iter().any(|rule| rule.depth() > MOST_DEPTH) {
        return Err(format!("more than {MOST_DEPTH} expressions within one another"));
    }
    prune(&mut rules);
    if rules[start] == Expr::NOTHING {
        return Err("no text fits it".to_owned());
    }
    let mut more_left = MOST_MORE;
    let rules = rules.into_iter().enumerate();
    let mut rules: Vec<Known> =
        rules.map(|(rule, expr)| Known::new(without_edges(expr, rule, &mut more_left))).collect();
    let mut is_gone = vec![false; rules.len()];
    is_gone[start] = true;
    let mut steps_left = Some(MOST_STEPS);
    while steps_left.is_some()
        && let Some((rule, more)) = next_in_place(&rules, &is_gone, more_left)
    {
        let expr = std::mem::replace(&mut rules[rule], Known::new(Expr::EMPTY)).expr;
        is_gone[rule] = true;
        more_left -= more;
        let in_place = |named: usize| if named == rule { expr.clone() } else { Expr::Rule(named) };
        for (other, user) in rules.iter_mut().enumerate() {
            if user.named.contains(&rule) {
                let replaced = user.expr.replaced(&in_place);
                *user = Known::new(without_edges(replaced, other, &mut more_left));
                steps_left = steps_left.and_then(|left| left.checked_sub(user.size));
            }
        }
    }
    Ok(numbered(&rules, start))
}

/// The rule that takes the least room where it is written wherever another names it, and how much more that is; `None`
/// if there is none that does not name itself, or no room.
fn next_in_place(rules: &[Known], is_gone: &[bool], left: usize) -> Option<(usize, usize)> {
    let mut places = vec![0; rules.len()];
    let mut deepest = vec![0; rules.len()];
    for user in rules {
        for &rule in &user.named {
            places[rule] += 1;
            deepest[rule] = user.depth.max(deepest[rule]);
        }
    }
    let candidates = rules.iter().enumerate().filter(|(at, rule)| {
        !is_gone[*at] && !rule.named.contains(at) && deepest[*at] + rule.depth <= MOST_DEPTH
    });
    candidates
        .map(|(at, rule)| (at, (places[at] * rule.size).saturating_sub(rule.size)))
        .filter(|(_, more)| *more <= left)
        .min_by_key(|(_, more)| *more)
}

/// Rules that no text fits are put out of the way.
fn prune(rules: &mut [Expr]) {
    let mut has_texts = vec![false; rules.len()];
    loop {
        let more: Vec<usize> = (0..rules.len())
            .filter(|rule| !has_texts[*rule] && has_text(&rules[*rule], &has_texts))
            .collect();
        if more.is_empty() {
            break;
        }
        for rule in more {
            has_texts[rule] = true;
        }
    }
    let pruned = |rule: usize| if has_texts[rule] { Expr::Rule(rule) } else { Expr::NOTHING };
    for (rule, expr) in rules.iter_mut().enumerate() {
        *expr = if has_texts[rule] { expr.replaced(&pruned) } else { Expr::NOTHING };
    }
}

fn has_text(expr: &Expr, of_rules: &[bool]) -> bool {
    match expr {
        Expr::Literal(_) | Expr::Class(_) => true,
        Expr::Rule(rule) => of_rules[*rule],
        Expr::Concat(parts) => parts.iter().all(|part| has_text(part, of_rules)),
        Expr::Choice(options) => options.iter().any(|option| has_text(option, of_rules)),
        Expr::Repeat(one, least, _) => *least == 0 || has_text(one, of_rules),
    }
}

/// The texts of a rule, which neither begins nor ends with itself any longer, if there is room for that.
///
/// Of `r = r a | b r | r c r | d`, these are one or more of `b* d a*`, with `c` between them.
fn without_edges(expr: Expr, rule: usize, more_left: &mut usize) -> Expr {
    let itself = Expr::Rule(rule);
    let options = if expr.mentions(rule) { options(&expr, rule) } else { None };
    let Some(options) = options else { return expr };
    let [mut before, mut after, mut between, mut others] = [const { Vec::new() }; 4];
    for option in options {
        match &option[..] {
            // Itself says nothing.
            [one] if *one == itself => {}
            [first, middle @ .., last] if *first == itself && *last == itself => {
                between.push(Expr::concat(middle.to_vec()));
            }
            [first, rest @ ..] if *first == itself => after.push(Expr::concat(rest.to_vec())),
            [rest @ .., last] if *last == itself => before.push(Expr::concat(rest.to_vec())),
            _ => others.push(Expr::concat(option)),
        }
    }
    let any = |options: Vec<Expr>| Expr::choice(options).repeat(0, None);
    let one = Expr::concat([any(before), Expr::choice(others), any(after)]);
    let made = if between.is_empty() {
        one
    } else {
        let more = Expr::concat([Expr::choice(between), one.clone()]);
        Expr::concat([one, more.repeat(0, None)])
    };
    match more_left.checked_sub(made.size().saturating_sub(expr.size())) {
        Some(left) => {
            *more_left = left;
            made
        }
        None => expr,
    }
}

/// The options of a rule; `None` if they are too many, or take too much room. What begins or ends one and names the rule
/// is an option for each of its own.
fn options(expr: &Expr, rule: usize) -> Option<Vec<Vec<Expr>>> {
    let is_edge = |part: &&Expr| {
        matches!(part, Expr::Choice(_) | Expr::Repeat(_, 0, Some(1))) && part.mentions(rule)
    };
    Some(match expr {
        Expr::Choice(all) => {
            let mut made = Vec::new();
            for one in all {
                made.extend(options(one, rule)?);
            }
            made
        }
        Expr::Repeat(one, 0, Some(1)) => {
            let mut all = options(one, rule)?;
            all.push(Vec::new());
            all
        }
        Expr::Concat(parts) => {
            let first = parts.iter().take_while(is_edge).count();
            let last = parts[first..].iter().rev().take_while(is_edge).count();
            let (firsts, rest) = parts.split_at(first);
            let (middle, lasts) = rest.split_at(rest.len() - last);
            let mut all = vec![Vec::new()];
            for part in firsts {
                all = crossed(&all, &options(part, rule)?)?;
            }
            all = crossed(&all, &[middle.to_vec()])?;
            for part in lasts {
                all = crossed(&all, &options(part, rule)?)?;
            }
            all
        }
        one => vec![vec![one.clone()]],
    })
    .filter(|all: &Vec<Vec<Expr>>| all.len() <= MOST_OPTIONS)
}

fn crossed(firsts: &[Vec<Expr>], lasts: &[Vec<Expr>]) -> Option<Vec<Vec<Expr>>> {
    let size = |all: &[Vec<Expr>]| all.iter().flatten().map(Expr::size).sum::<usize>();
    let is_small = firsts.len() * lasts.len() <= MOST_OPTIONS
        && firsts.len() * size(lasts) + lasts.len() * size(firsts) <= MOST_ROOM;
    let pairs =
        firsts.iter().flat_map(|first| lasts.iter().map(move |last| [&first[..], last].concat()));
    is_small.then(|| pairs.collect())
}

/// Those rules that the first names, or that these name, by new numbers. No rule names the first.
fn numbered(rules: &[Known], start: usize) -> TextRules {
    let mut kept: Vec<usize> = Vec::new();
    let mut left = vec![start];
    while let Some(rule) = left.pop() {
        let mut named = rules[rule].named.clone();
        named.sort_unstable();
        for named in named {
            if !kept.contains(&named) {
                kept.push(named);
                left.push(named);
            }
        }
    }
    let number =
        |rule: usize| Expr::Rule(kept.iter().position(|one| *one == rule).unwrap_or_default());
    let start = rules[start].expr.replaced(&number);
    let rules = kept.iter().map(|rule| rules[*rule].expr.replaced(&number)).collect();
    TextRules { start, rules }
}

impl TextRules {
    /// For each rule whether the empty text fits it.
    pub(crate) fn nullable(&self) -> Vec<bool> {
        let mut nullable = vec![false; self.rules.len()];
        loop {
            let now: Vec<bool> =
                self.rules.iter().map(|rule| rule.is_nullable(&|named| nullable[named])).collect();
            if now == nullable {
                return nullable;
            }
            nullable = now;
        }
    }

    /// Whether some rule may begin with itself.
    pub(crate) fn is_left_recursive(&self) -> bool {
        let nullable = self.nullable();
        let count = self.rules.len();
        let mut begins = vec![vec![false; count]; count];
        for (rule, expr) in self.rules.iter().enumerate() {
            begin(expr, &nullable, &mut begins[rule]);
        }
        for middle in 0..count {
            for from in 0..count {
                if begins[from][middle] {
                    let of_middle = begins[middle].clone();
                    for (to, is_begun) in of_middle.into_iter().enumerate() {
                        begins[from][to] |= is_begun;
                    }
                }
            }
        }
        (0..count).any(|rule| begins[rule][rule])
    }
}

/// Notes the rules with which a text may begin; whether the empty text fits.
fn begin(expr: &Expr, nullable: &[bool], begins: &mut [bool]) {
    match expr {
        Expr::Literal(_) | Expr::Class(_) => {}
        Expr::Rule(rule) => begins[*rule] = true,
        Expr::Choice(options) => options.iter().for_each(|one| begin(one, nullable, begins)),
        Expr::Repeat(one, ..) => begin(one, nullable, begins),
        Expr::Concat(parts) => {
            for part in parts {
                begin(part, nullable, begins);
                if !part.is_nullable(&|rule| nullable[rule]) {
                    return;
                }
            }
        }
    }
}
