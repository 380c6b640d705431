// Asks resolvo about a snapshot whose first version sets are the exact versions: can each of the first
// QUESTIONS of them be installed? So many times over. Prints how many questions there are,
// how many have an answer, and the processor time of each round in nanoseconds.
use resolvo::{snapshot::DependencySnapshot, Problem, Solver, VersionSetId, UnsolvableOrCancelled};

fn processor() -> u64 {
    let all = std::fs::read_to_string("/proc/self/schedstat").unwrap();
    all.split(' ').next().unwrap().parse().unwrap()
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let text = std::fs::read_to_string(&args[1]).unwrap();
    let snapshot: DependencySnapshot = serde_json::from_str(&text).unwrap();
    let questions: u32 = args[2].parse().unwrap();
    let rounds: u64 = args[3].parse().unwrap();
    let mut yes = 0;
    let start = processor();
    for _ in 0..rounds {
        yes = 0;
        for i in 0..questions {
            let mut solver = Solver::new(snapshot.provider());
            match solver.solve(Problem::new().requirements(vec![VersionSetId(i).into()])) {
                Ok(_) => yes += 1,
                Err(UnsolvableOrCancelled::Unsolvable(_)) => {}
                Err(_) => panic!("cancelled"),
            }
        }
    }
    println!("{} {} {}", questions, yes, (processor() - start) / rounds);
}
