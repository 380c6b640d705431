// Asks what pubgrub-rs' benches/large_case.rs asks, so many times over. Prints how many questions
// there are, how many have an answer, and the processor time of each round in nanoseconds.
use pubgrub::{resolve, OfflineDependencyProvider, Range};

fn processor() -> u64 {
    let all = std::fs::read_to_string("/proc/self/schedstat").unwrap();
    all.split(' ').next().unwrap().parse().unwrap()
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let text = std::fs::read_to_string(&args[1]).unwrap();
    let rounds: u64 = args[2].parse().unwrap();
    let registry: OfflineDependencyProvider<u16, Range<u32>> = ron::de::from_str(&text).unwrap();
    let (mut questions, mut yes) = (0, 0);
    let start = processor();
    for _ in 0..rounds {
        (questions, yes) = (0, 0);
        for package in registry.packages() {
            for version in registry.versions(package).unwrap() {
                questions += 1;
                if resolve(&registry, *package, *version).is_ok() {
                    yes += 1;
                }
            }
        }
    }
    println!("{} {} {}", questions, yes, (processor() - start) / rounds);
}
