/**
 * fast-check with one seed, for every property test: a run can be repeated, and a change is not blamed for a case that only
 * this run happened to try. `EVENKEEL_SEED=random` looks for new cases, `EVENKEEL_SEED=1234` repeats a run.
 *
 * vitest.config.ts puts this file in the place of `fast-check`, and names the package itself `fast-check/real`.
 */
import * as fc from 'fast-check/real'

const usual = 20_261_116
const given = process.env.EVENKEEL_SEED

if (given !== 'random') fc.configureGlobal({ seed: given === undefined ? usual : Number(given) })

export * from 'fast-check/real'
export { default } from 'fast-check/real'
