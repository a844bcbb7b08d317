/**
 * Mistakes of programs: promises left alone, module state, ends.
 */
import type { Mutant } from '../mutant.ts'
import { App, appProgram, applyChildren, rightApp } from '../worlds/app.ts'

const clean = appProgram(rightApp)
let runs = 0

export const programMutants: readonly Mutant[] = [
  {
    id: 'm49', mistake: 'an await is missing: the write is sent after the reconcile has ended', rules: ['floating', 'failure'], tier: 1, clean,
    broken: appProgram(() => ({
      for: App,
      reconcile(app, context) {
        void Promise.resolve().then(() => applyChildren(app, context))
        return Promise.resolve()
      },
    })),
  },
  {
    id: 'm03', mistake: 'a counter in the module decides', rules: ['stateless'], tier: 0, clean,
    broken: appProgram(() => ({
      for: App,
      async reconcile(app, context) {
        runs++
        await applyChildren({ ...app, spec: { ...app.spec, text: `run ${runs}` } }, context)
      },
    })),
  },
]
