/**
 * StatefulSets and ControllerRevisions. Most fields of a StatefulSet are immutable.
 */
import {
  errorsOfEach,
  pushAll,
  checkDnsLabel,
  deepEqual,
  fieldError,
  FieldPath,
  numberIn,
  objectIn,
  objectsIn,
  optionalObjectIn,
  textIn,
  type FieldError,
  type JsonObject,
  type UnstructuredObject,
} from 'evenkeel/unstable/builtins'
import { validateClaimSpec } from '../core/persistent-volume.ts'
import { defaultClaimSpec, defaultTemplate } from '../core/pod-defaults.ts'
import { draftIn, draftsIn, ensureDraft, setDefault, setDefaultText } from '../defaulting.ts'
import type { StrategyHooks } from '../strategy-flags.ts'
import {
  percentOf,
  refuse,
  requireNonNegative,
  requireOneOf,
  requireSame,
  selectorIn,
  validateIntOrPercent,
  validateNotMoreThan100Percent,
} from '../validation.ts'
import {
  isValidSelector,
  validateCounts,
  validateRestartingTemplate,
  validateSelector,
  validateTemplateMatchesSelector,
} from './pod-selection.ts'

const specPath = FieldPath.of('spec')
const strategyPath = specPath.child('updateStrategy')
const mutable = [
  'replicas',
  'ordinals',
  'template',
  'updateStrategy',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
  'minReadySeconds',
]
const changeComplaint =
  "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', " +
  "'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"

export const statefulSetStrategy: StrategyHooks = {
  default(object) {
    const spec = ensureDraft(object, 'spec')
    setDefault(spec, 'replicas', 1)
    defaultTemplate(spec)
    setDefaultText(spec, 'podManagementPolicy', 'OrderedReady')
    const strategy = ensureDraft(spec, 'updateStrategy')
    if (textIn(strategy, 'type') === '') {
      strategy['type'] = 'RollingUpdate'
      ensureDraft(strategy, 'rollingUpdate')
    }
    const rolling = strategy['type'] === 'RollingUpdate' ? draftIn(strategy, 'rollingUpdate') : undefined
    if (rolling !== undefined) setDefault(rolling, 'partition', 0)
    const retention = ensureDraft(spec, 'persistentVolumeClaimRetentionPolicy')
    for (const key of ['whenDeleted', 'whenScaled']) setDefaultText(retention, key, 'Retain')
    setDefault(spec, 'serviceName', '')
    setDefault(spec, 'revisionHistoryLimit', 10)
    for (const claim of draftsIn(spec, 'volumeClaimTemplates')) {
      claim['kind'] = 'PersistentVolumeClaim'
      claim['apiVersion'] = 'v1'
      defaultClaimSpec(ensureDraft(claim, 'spec'))
      setDefaultText(ensureDraft(claim, 'status'), 'phase', 'Pending')
    }
  },
  prepareForCreate(object) {
    object['status'] = { replicas: 0, availableReplicas: 0 }
  },
  validate: validateStatefulSet,
  validateUpdate: validateChange,
}

/** ControllerRevisions: the data is immutable. */
export const controllerRevisionStrategy: StrategyHooks = {
  validate: (object) => [
    ...(object['data'] === undefined ? [fieldError.required(FieldPath.of('data'), 'data is mandatory')] : []),
    ...requireNonNegative(numberIn(object, 'revision'), FieldPath.of('revision')),
  ],
  validateUpdate: (object, old) => requireSame(object['data'], old['data'], FieldPath.of('data')),
}

function validateStatefulSet(object: UnstructuredObject): FieldError[] {
  const spec = objectIn(object, 'spec')
  const [selector, service] = [selectorIn(spec, 'selector'), textIn(spec, 'serviceName')]
  const template = withClaims(spec)
  return [
    ...validatePolicy(textIn(spec, 'podManagementPolicy')),
    ...validateStrategy(objectIn(spec, 'updateStrategy')),
    ...errorsOfEach(['whenDeleted', 'whenScaled'], (key) =>
      requireOneOf(
        textIn(objectIn(spec, 'persistentVolumeClaimRetentionPolicy'), key),
        specPath.child('persistentVolumeClaimRetentionPolicy', key),
        ['Retain', 'Delete'],
      ),
    ),
    ...errorsOfEach(objectsIn(spec, 'volumeClaimTemplates'), (claim, index) =>
      validateClaimSpec(objectIn(claim, 'spec'), specPath.child('volumeClaimTemplates').index(index).child('spec')),
    ),
    ...validateCounts(spec, ['replicas', 'minReadySeconds']),
    ...requireNonNegative(numberIn(objectIn(spec, 'ordinals'), 'start'), specPath.child('ordinals.start')),
    ...(service === '' ? [] : refuse(service, specPath.child('serviceName'), checkDnsLabel(service))),
    ...validateSelector(spec, { owner: 'statefulset' }),
    ...(isValidSelector(selector)
      ? [
          ...validateTemplateMatchesSelector(spec, selector),
          ...validateRestartingTemplate(template, { owner: 'StatefulSet' }),
        ]
      : [fieldError.invalid(specPath.child('selector'), spec['selector'], '')]),
  ]
}

/** The template as its Pods will be: claims become volumes, and the StatefulSet sets the host names. */
function withClaims(spec: JsonObject): JsonObject {
  const template = objectIn(spec, 'template')
  const { subdomain: _subdomain, hostname: _hostname, ...pod } = objectIn(template, 'spec')
  const claims = objectsIn(spec, 'volumeClaimTemplates').map((claim) => textIn(objectIn(claim, 'metadata'), 'name'))
  if (claims.length === 0) return { ...template, spec: pod }
  const claimed = new Set(claims)
  const volumes = [
    ...claims.map((name) => ({ name, persistentVolumeClaim: { claimName: name } })),
    ...objectsIn(pod, 'volumes').filter((volume) => !claimed.has(textIn(volume, 'name'))),
  ]
  return { ...template, spec: { ...pod, volumes } }
}

function validatePolicy(policy: string): FieldError[] {
  if (policy === 'OrderedReady' || policy === 'Parallel') return []
  return [fieldError.invalid(specPath.child('podManagementPolicy'), policy, "must be 'OrderedReady' or 'Parallel'")]
}

function validateStrategy(strategy: JsonObject): FieldError[] {
  const [type, rolling, path] = [
    textIn(strategy, 'type'),
    optionalObjectIn(strategy, 'rollingUpdate'),
    strategyPath.child('rollingUpdate'),
  ]
  if (type === 'OnDelete') {
    return rolling === undefined
      ? []
      : [fieldError.invalid(path, rolling, "only allowed for updateStrategy 'RollingUpdate'")]
  }
  if (type !== 'RollingUpdate')
    return [
      fieldError.invalid(
        strategyPath,
        { Type: type, RollingUpdate: rolling ?? null },
        "must be 'RollingUpdate' or 'OnDelete'",
      ),
    ]
  const errors = requireNonNegative(numberIn(rolling, 'partition'), path.child('partition'))
  const [missing, missingPath] = [rolling?.['maxUnavailable'], path.child('maxUnavailable')]
  if (missing === undefined) return errors
  pushAll(errors, validateIntOrPercent(missing, missingPath))
  if ((percentOf(missing) ?? missing) === 0) errors.push(fieldError.invalid(missingPath, missing, 'cannot be 0'))
  return [...errors, ...validateNotMoreThan100Percent(missing, missingPath)]
}

function validateChange(object: UnstructuredObject, old: UnstructuredObject): FieldError[] {
  const fixed = (of: UnstructuredObject): JsonObject =>
    Object.fromEntries(Object.entries(objectIn(of, 'spec')).filter(([key]) => !mutable.includes(key)))
  return deepEqual(fixed(object), fixed(old)) ? [] : [fieldError.forbidden(specPath, changeComplaint)]
}
