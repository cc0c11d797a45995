// The slices of evaluations. `Session.open` replays them also before the first evaluation, whose code is imported then.
import "../resume/earlier-turns.ts";
import "../resume/standing.ts";
import "../turns/trace-slice.ts";
