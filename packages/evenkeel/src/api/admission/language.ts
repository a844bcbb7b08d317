/**
 * Everything about expressions of admission that needs the expression language, in one value: what
 * `loadAdmissionLanguage` loads.
 */
import { AdmissionExpressionCompiler } from './compiler.ts'
import type { AdmissionEngine } from './load.ts'
import { configurationOf, patchOf } from './made.ts'
import { typeWarnings } from './type-check.ts'

export const admissionEngine: AdmissionEngine = {
  compiler: (scope) => new AdmissionExpressionCompiler(scope),
  configurationOf,
  patchOf,
  typeWarnings,
}
