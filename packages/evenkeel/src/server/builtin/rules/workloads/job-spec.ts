/**
 * The spec of a Job, in a Job or in the template of a CronJob.
 *
 * Failure and success policies are not looked into; the schema has checked their shape.
 */
import { fieldError } from '#api'
import type { FieldError, FieldPath, JsonObject, JsonObjectDraft } from '#api'
import { allowOneOf, requireNonNegative } from '../checks.ts'
import { draftIn, draftsIn, setDefaultText } from '../drafts.ts'
import { defaultTemplate } from '../pods/defaults/pod-spec.ts'
import { validateTemplate } from '../pods/validation/pod-spec.ts'
import { numberIn, objectIn, optionalObjectIn, textIn } from '../reading.ts'

const counts = [
  'parallelism',
  'completions',
  'activeDeadlineSeconds',
  'backoffLimit',
  'ttlSecondsAfterFinished',
  'backoffLimitPerIndex',
  'maxFailedIndexes',
]
const indexedParallelismMax = 100_000

/** What holds for the job of a CronJob as well; the rest is filled in when a Job is made from it. */
export function defaultJobSpec(spec: JsonObjectDraft): void {
  defaultTemplate(spec)
  const policy = draftIn(spec, 'podFailurePolicy')
  if (policy === undefined) return
  for (const rule of draftsIn(policy, 'rules')) {
    for (const pattern of draftsIn(rule, 'onPodConditions')) setDefaultText(pattern, 'status', 'True')
  }
}

export function validateJobSpec(spec: JsonObject, path: FieldPath): FieldError[] {
  const isIndexed = textIn(spec, 'completionMode') === 'Indexed'
  return [
    ...counts.flatMap((key) => requireNonNegative(numberIn(spec, key), path.child(key))),
    ...allowOneOf(spec['completionMode'], path.child('completionMode'), ['NonIndexed', 'Indexed']),
    ...(isIndexed ? validateIndexed(spec, path) : validateUnindexed(spec, path)),
    ...allowOneOf(spec['podReplacementPolicy'], path.child('podReplacementPolicy'), ['Failed', 'TerminatingOrFailed']),
    ...validateTemplate(objectIn(spec, 'template'), path.child('template')),
    ...validateRestart(spec, path.child('template', 'spec', 'restartPolicy')),
  ]
}

function validateIndexed(spec: JsonObject, path: FieldPath): FieldError[] {
  const [completions, parallelism, failed] = [
    numberIn(spec, 'completions'),
    numberIn(spec, 'parallelism') ?? 0,
    numberIn(spec, 'maxFailedIndexes'),
  ]
  const errors: FieldError[] = []
  if (failed !== undefined && numberIn(spec, 'backoffLimitPerIndex') === undefined) {
    errors.push(fieldError.required(path.child('backoffLimitPerIndex'), 'when maxFailedIndexes is specified'))
  }
  if (completions === undefined)
    errors.push(fieldError.required(path.child('completions'), 'when completion mode is Indexed'))
  if (parallelism > indexedParallelismMax) {
    const detail = `must be less than or equal to ${indexedParallelismMax} when completion mode is Indexed`
    errors.push(fieldError.invalid(path.child('parallelism'), parallelism, detail))
  }
  if (completions !== undefined && failed !== undefined && failed > completions) {
    errors.push(fieldError.invalid(path.child('maxFailedIndexes'), failed, 'must be less than or equal to completions'))
  }
  return errors
}

function validateUnindexed(spec: JsonObject, path: FieldPath): FieldError[] {
  const errors =
    numberIn(spec, 'maxFailedIndexes') !== undefined && numberIn(spec, 'backoffLimitPerIndex') === undefined
      ? [fieldError.required(path.child('backoffLimitPerIndex'), 'when maxFailedIndexes is specified')]
      : []
  for (const key of ['backoffLimitPerIndex', 'maxFailedIndexes', 'successPolicy']) {
    if (spec[key] !== undefined)
      errors.push(fieldError.invalid(path.child(key), spec[key], 'requires indexed completion mode'))
  }
  return errors
}

/** The pods of a job end; a job starts new ones itself. */
function validateRestart(spec: JsonObject, path: FieldPath): FieldError[] {
  const policy = textIn(objectIn(objectIn(spec, 'template'), 'spec'), 'restartPolicy')
  if (policy === 'Always' || policy === '') return [fieldError.required(path, 'valid values: "OnFailure", "Never"')]
  if (policy !== 'OnFailure' && policy !== 'Never')
    return [fieldError.notSupported(path, policy, ['OnFailure', 'Never'])]
  if (optionalObjectIn(spec, 'podFailurePolicy') === undefined || policy === 'Never') return []
  return [fieldError.invalid(path, policy, 'only "Never" is supported when podFailurePolicy is specified')]
}
