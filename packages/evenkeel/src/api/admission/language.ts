/**
 * Everything about expressions of admission that needs the expression language, in one value: what
 * `loadAdmissionLanguage` loads.
 */
import { Compiler } from './compiler.ts'
import type { AdmissionLanguage } from './load.ts'
import { configurationOf, patchOf } from './made.ts'
import { typeWarnings } from './type-check.ts'

export const admissionLanguage: AdmissionLanguage = {
  compiler: (scope) => new Compiler(scope),
  configurationOf,
  patchOf,
  typeWarnings,
}
