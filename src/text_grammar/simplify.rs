//! Rules that lead to themselves only where they have to: most grammars of tools are regular expressions then.

use super::Expr;

/// The rules of a grammar. Each names itself, or is too large to be written at each place.
#[derive(Debug)]
pub(crate) struct TextRules {
    pub(crate) start: Expr,
    pub(crate) rules: Vec<Expr>,
}

/// The most expressions of all rules, of which each may be written several times.
pub(super) const MOST_SIZE: usize = 5000;

/// The most options of a rule that names itself.
const MOST_OPTIONS: usize = 200;

/// The most rules; each may be compared with all others.
const MOST_RULES: usize = 300;

/// The most expressions within one another.
const MOST_DEPTH: usize = 150;

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
    let mut is_gone = vec![false; rules.len()];
    is_gone[start] = true;
    for (rule, expr) in rules.iter_mut().enumerate() {
        *expr = without_edges(expr, rule);
    }
    while let Some(rule) = next_in_place(&rules, &is_gone) {
        let expr = std::mem::replace(&mut rules[rule], Expr::EMPTY);
        is_gone[rule] = true;
        let in_place = |named: usize| if named == rule { expr.clone() } else { Expr::Rule(named) };
        for (other, user) in rules.iter_mut().enumerate().filter(|(_, user)| user.mentions(rule)) {
            *user = without_edges(&user.replaced(&in_place), other);
        }
    }
    Ok(numbered(&rules, start))
}

/// The rule that takes the least room where it is written wherever another names it; `None` if there is none that does
/// not name itself, or no room.
fn next_in_place(rules: &[Expr], is_gone: &[bool]) -> Option<usize> {
    let mut users: Vec<Vec<usize>> = vec![Vec::new(); rules.len()];
    for (rule, expr) in rules.iter().enumerate() {
        note_user(expr, rule, &mut users);
    }
    let sizes: Vec<usize> = rules.iter().map(Expr::size).collect();
    let depths: Vec<usize> = rules.iter().map(Expr::depth).collect();
    let all: usize = sizes.iter().sum();
    let more = |rule: &usize| (users[*rule].len() * sizes[*rule]).saturating_sub(sizes[*rule]);
    let has_room = |rule: &usize| {
        let more = more(rule);
        (more == 0 || all + more <= MOST_SIZE)
            && users[*rule].iter().all(|user| depths[*user] + depths[*rule] <= MOST_DEPTH)
    };
    let left = (0..rules.len()).filter(|rule| !is_gone[*rule] && !users[*rule].contains(rule));
    left.filter(has_room).min_by_key(more)
}

/// Records which rules name each rule, once for each place.
fn note_user(expr: &Expr, user: usize, users: &mut [Vec<usize>]) {
    if let Expr::Rule(rule) = expr {
        users[*rule].push(user);
    }
    for part in expr.parts() {
        note_user(part, user, users);
    }
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

/// The texts of a rule, which neither begins nor ends with itself any longer.
///
/// Of `r = r a | b r | r c r | d`, these are one or more of `b* d a*`, with `c` between them.
fn without_edges(expr: &Expr, rule: usize) -> Expr {
    let itself = Expr::Rule(rule);
    if !expr.mentions(rule) {
        return expr.clone();
    }
    let options = options(expr, rule);
    if options.len() > MOST_OPTIONS {
        return expr.clone();
    }
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
    if between.is_empty() {
        return one;
    }
    let more = Expr::concat([Expr::choice(between), one.clone()]);
    Expr::concat([one, more.repeat(0, None)])
}

/// The options of a rule. What begins or ends one and names the rule is an option for each of its own.
fn options(expr: &Expr, rule: usize) -> Vec<Vec<Expr>> {
    let is_edge = |part: &Expr| {
        matches!(part, Expr::Choice(_) | Expr::Repeat(_, 0, Some(1))) && part.mentions(rule)
    };
    match expr {
        Expr::Choice(all) => all.iter().flat_map(|one| options(one, rule)).collect(),
        Expr::Repeat(one, 0, Some(1)) => {
            let mut all = options(one, rule);
            all.push(Vec::new());
            all
        }
        Expr::Concat(parts) => match &parts[..] {
            [first, rest @ ..] if is_edge(first) => {
                crossed(&options(first, rule), &options(&Expr::concat(rest.to_vec()), rule))
            }
            [rest @ .., last] if is_edge(last) => {
                crossed(&options(&Expr::concat(rest.to_vec()), rule), &options(last, rule))
            }
            parts => vec![parts.to_vec()],
        },
        one => vec![vec![one.clone()]],
    }
}

fn crossed(firsts: &[Vec<Expr>], lasts: &[Vec<Expr>]) -> Vec<Vec<Expr>> {
    let pairs =
        firsts.iter().flat_map(|first| lasts.iter().map(move |last| [&first[..], last].concat()));
    pairs.take(MOST_OPTIONS + 1).collect()
}

/// Those rules that the first names, or that these name, by new numbers. No rule names the first.
fn numbered(rules: &[Expr], start: usize) -> TextRules {
    let mut kept: Vec<usize> = Vec::new();
    let mut left = vec![start];
    while let Some(rule) = left.pop() {
        for named in (0..rules.len()).filter(|named| rules[rule].mentions(*named)) {
            if !kept.contains(&named) {
                kept.push(named);
                left.push(named);
            }
        }
    }
    let number =
        |rule: usize| Expr::Rule(kept.iter().position(|one| *one == rule).unwrap_or_default());
    let start = rules[start].replaced(&number);
    TextRules { start, rules: kept.iter().map(|rule| rules[*rule].replaced(&number)).collect() }
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
