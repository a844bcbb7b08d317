/**
 * Jobs: Pods that run to completion. The selector is generated from the uid, so that a Job selects only its own Pods.
 */
import {
  errorsOfEach,
  checkDnsLabel,
  deepEqual,
  fieldError,
  FieldPath,
  isSet,
  numberIn,
  objectIn,
  optionalObjectIn,
  textIn,
  textMapIn,
  validateLabelSelector,
  type FieldError,
  type JsonObject,
  type JsonObjectDraft,
  type UnstructuredObject,
} from 'evenkeel/unstable/builtins'
import { defaultTemplate } from '../core/pod-defaults.ts'
import { validateTemplate } from '../core/pod-spec.ts'
import { draftIn, draftsIn, ensureDraft, setDefault, setDefaultText } from '../defaulting.ts'
import type { ObjectDraft } from '../resource.ts'
import type { StrategyHooks } from '../strategy-flags.ts'
import { allowOneOf, requireNonNegative, requireSame, selectorIn } from '../validation.ts'
import { sortedByKey, validateTemplateMatchesSelector } from './pod-selection.ts'

const specPath = FieldPath.of('spec')
const uidLabel = 'batch.kubernetes.io/controller-uid'
const fixed = ['selector', 'completionMode', 'podFailurePolicy', 'backoffLimitPerIndex', 'managedBy', 'successPolicy']
const backoffLimitMax = 2_147_483_647

export const jobStrategy: StrategyHooks = {
  selectableFields: { 'status.successful': (object) => String(numberIn(objectIn(object, 'status'), 'succeeded') ?? 0) },
  default: defaultJob,
  prepareForCreate: addSelector,
  validate: (object) => [
    ...validateSelector(object),
    ...validateJobSpec(objectIn(object, 'spec'), specPath),
    ...validateHostnames(object),
  ],
  validateUpdate: validateChange,
}

function defaultJob(object: ObjectDraft): void {
  const spec = ensureDraft(object, 'spec')
  defaultJobSpec(spec)
  if (spec['completions'] === undefined && spec['parallelism'] === undefined) spec['completions'] = 1
  setDefault(spec, 'parallelism', 1)
  setDefault(spec, 'backoffLimit', spec['backoffLimitPerIndex'] === undefined ? 6 : backoffLimitMax)
  const labels = optionalObjectIn(objectIn(objectIn(spec, 'template'), 'metadata'), 'labels')
  if (labels !== undefined && Object.keys(objectIn(object.metadata, 'labels')).length === 0)
    object.metadata.labels = textMapIn(objectIn(objectIn(spec, 'template'), 'metadata'), 'labels')
  setDefault(spec, 'completionMode', 'NonIndexed')
  setDefault(spec, 'suspend', false)
  setDefault(spec, 'podReplacementPolicy', spec['podFailurePolicy'] === undefined ? 'TerminatingOrFailed' : 'Failed')
  setDefault(spec, 'manualSelector', false)
}

/** Generates the labels for name and uid, with legacy and current keys, and a selector for the uid. */
function addSelector(object: ObjectDraft): void {
  object['status'] = {}
  const spec = ensureDraft(object, 'spec')
  if (isSet(spec, 'manualSelector')) return
  const labels = ensureDraft(ensureDraft(ensureDraft(spec, 'template'), 'metadata'), 'labels')
  const isTemplates = deepEqual(objectIn(object.metadata, 'labels'), labels)
  for (const [key, value] of generatedLabels(textIn(object.metadata, 'name'), textIn(object.metadata, 'uid')))
    setDefault(labels, key, value)
  setDefault(ensureDraft(ensureDraft(spec, 'selector'), 'matchLabels'), uidLabel, textIn(object.metadata, 'uid'))
  // A Job without labels gets those of its template, which now include the generated ones.
  if (isTemplates) object.metadata.labels = textMapIn(objectIn(objectIn(spec, 'template'), 'metadata'), 'labels')
}

function generatedLabels(name: string, uid: string): readonly (readonly [string, string])[] {
  return [
    ['job-name', name],
    ['batch.kubernetes.io/job-name', name],
    ['controller-uid', uid],
    [uidLabel, uid],
  ]
}

function validateSelector(object: UnstructuredObject): FieldError[] {
  const spec = objectIn(object, 'spec')
  const [selector, path] = [selectorIn(spec, 'selector'), specPath.child('selector')]
  const errors = isSet(spec, 'manualSelector') ? [] : validateGenerated(object, spec)
  if (selector === undefined)
    return [...errors, fieldError.required(path), ...validateTemplateMatchesSelector(spec, selector)]
  return [...errors, ...validateLabelSelector(selector, path), ...validateTemplateMatchesSelector(spec, selector)]
}

/** A label set by the client must equal the generated one. */
function validateGenerated({ metadata }: UnstructuredObject, spec: JsonObject): FieldError[] {
  const labels = textMapIn(objectIn(objectIn(spec, 'template'), 'metadata'), 'labels')
  const path = specPath.child('template', 'metadata', 'labels')
  const errors = errorsOfEach(generatedLabels(metadata.name ?? '', metadata.uid ?? ''), ([key, value]) => {
    const actual = Object.hasOwn(labels, key) ? labels[key] : undefined
    if (actual === undefined) return [fieldError.required(path.key(key), `must be '${value}'`)]
    return actual === value ? [] : [fieldError.invalid(path.key(key), sortedByKey(labels), `must be '${value}'`)]
  })
  const expected = { matchLabels: { [uidLabel]: metadata.uid ?? '' } }
  const legacy = { matchLabels: { 'controller-uid': metadata.uid ?? '' } }
  if (deepEqual(spec['selector'], expected) || deepEqual(spec['selector'], legacy)) return errors
  return [...errors, fieldError.invalid(specPath.child('selector'), spec['selector'], '`selector` not auto-generated')]
}

/** The host names of the Pods of an indexed Job are made of its name and the index. */
function validateHostnames(object: UnstructuredObject): FieldError[] {
  const { metadata } = object
  const spec = objectIn(object, 'spec')
  const completions = numberIn(spec, 'completions') ?? 0
  if (textIn(spec, 'completionMode') !== 'Indexed' || completions <= 0) return []
  const hostname = `${metadata.name ?? ''}-${completions - 1}`
  if (checkDnsLabel(hostname).length === 0) return []
  const detail = `will not able to create pod with invalid DNS label: ${hostname}`
  return [fieldError.invalid(FieldPath.of('metadata', 'name'), metadata.name ?? '', detail)]
}

function validateChange(object: UnstructuredObject, old: UnstructuredObject): FieldError[] {
  const [spec, before] = [objectIn(object, 'spec'), objectIn(old, 'spec')]
  return [
    ...validateCompletions(spec, before),
    ...requireSame(spec['selector'], before['selector'], specPath.child('selector')),
    ...requireSame(templateOf(spec, before), templateOf(before, before), specPath.child('template')),
    ...errorsOfEach(fixed.slice(1), (key) => requireSame(spec[key], before[key], specPath.child(key))),
  ]
}

function validateCompletions(spec: JsonObject, before: JsonObject): FieldError[] {
  const path = specPath.child('completions')
  if (textIn(spec, 'completionMode') !== 'Indexed') return requireSame(spec['completions'], before['completions'], path)
  const completions = numberIn(spec, 'completions')
  if (
    completions === undefined ||
    completions === numberIn(before, 'completions') ||
    completions === numberIn(spec, 'parallelism')
  )
    return []
  return [fieldError.invalid(path, completions, 'can only be modified in tandem with spec.parallelism')]
}

/** The template without the scheduling directives, which may change while a suspended Job has never started. */
function templateOf(spec: JsonObject, before: JsonObject): JsonObject {
  const template = objectIn(spec, 'template')
  if (!isSet(before, 'suspend')) return template
  const {
    nodeSelector: _selector,
    tolerations: _tolerations,
    schedulingGates: _gates,
    affinity: _affinity,
    ...pod
  } = objectIn(template, 'spec')
  const containers = ['containers', 'initContainers'].map((key) => [key, withoutResources(pod[key])] as const)
  return { spec: { ...pod, ...Object.fromEntries(containers) } }
}

function withoutResources(list: unknown): JsonObject[] {
  return Array.isArray(list) ? list.map(({ resources: _, ...container }: JsonObject) => container) : []
}

// The spec of a Job, in a Job or in the template of a CronJob.
//
// Failure and success policies are validated by the schema only.

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

/** The defaults of a job template in a CronJob; other defaults are set when a Job is created from it. */
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
    ...errorsOfEach(counts, (key) => requireNonNegative(numberIn(spec, key), path.child(key))),
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

/** The restart policy must not be Always: a Job replaces failed Pods itself. */
function validateRestart(spec: JsonObject, path: FieldPath): FieldError[] {
  const policy = textIn(objectIn(objectIn(spec, 'template'), 'spec'), 'restartPolicy')
  if (policy === 'Always' || policy === '') return [fieldError.required(path, 'valid values: "OnFailure", "Never"')]
  if (policy !== 'OnFailure' && policy !== 'Never')
    return [fieldError.notSupported(path, policy, ['OnFailure', 'Never'])]
  if (optionalObjectIn(spec, 'podFailurePolicy') === undefined || policy === 'Never') return []
  return [fieldError.invalid(path, policy, 'only "Never" is supported when podFailurePolicy is specified')]
}
