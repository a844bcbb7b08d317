/**
 * fast-check with one seed, for every property test: a run can be repeated, and a change is not blamed for a case that only
 * this run happened to try. `EVENKEEL_SEED=random` looks for new cases, `EVENKEEL_SEED=1234` repeats a run.
 *
 * vitest.config.ts puts this file in the place of `fast-check`.
 */
import * as fc from '../node_modules/fast-check/lib/fast-check.js'

const usual = 20_261_116
const given = process.env.EVENKEEL_SEED

if (given !== 'random') fc.configureGlobal({ seed: given === undefined ? usual : Number(given) })

export * from '../node_modules/fast-check/lib/fast-check.js'
export { default } from '../node_modules/fast-check/lib/fast-check.js'
