/**
 * What must become of an object that every cluster has, given what is there.
 *
 * Only ever adds: rules, subjects, labels that are missing. Who wants an object left alone annotates it with
 * `rbac.authorization.kubernetes.io/autoupdate: "false"`.
 */
import { deepEqual, getOwn, isJsonObject } from '#api'
import type { JsonObject, JsonValue, UnstructuredObject } from '#api'
import { rulesOf, cachedRulesOf, toRuleObject } from '../../access/policy-rule.ts'
import { uncovered } from '../rules/covers.ts'
import type { DefaultRbacObject } from './expand.ts'

const autoupdate = 'rbac.authorization.kubernetes.io/autoupdate'
const labelled = { 'kubernetes.io/bootstrapping': 'rbac-defaults' }

/** The labels and annotations of an object that was just made. */
export function defaultMetadata({ labels }: DefaultRbacObject): JsonObject {
  return { labels: { ...labelled, ...labels }, annotations: { [autoupdate]: 'true' } }
}

/** The object as it should be; undefined when it can stay as it is. */
export function reconcileDefault(wanted: DefaultRbacObject, present: UnstructuredObject): JsonObject | undefined {
  const { annotations = {}, labels = {} } = present.metadata
  if (annotations[autoupdate] === 'false') return undefined
  const metadata = {
    ...present.metadata,
    annotations: { [autoupdate]: 'true', ...annotations },
    labels: { ...labelled, ...wanted.labels, ...labels },
  }
  const next = { ...present, metadata, ...fieldsOf(wanted, present) } as unknown as JsonObject
  return deepEqual(next, present) ? undefined : next
}

/** A binding to another role cannot be mended, only replaced. */
export function mustRecreate({ fields }: DefaultRbacObject, present: UnstructuredObject): boolean {
  return (
    present.metadata.annotations?.[autoupdate] !== 'false' &&
    !deepEqual(getOwn(fields, 'roleRef'), getOwn(present, 'roleRef'))
  )
}

function fieldsOf({ plural, fields }: DefaultRbacObject, present: UnstructuredObject): JsonObject {
  if (plural === 'rolebindings' || plural === 'clusterrolebindings')
    return withAll('subjects', listIn(fields, 'subjects'), present)
  const gathering = getOwn(fields, 'aggregationRule')
  if (gathering === undefined) return missingRules(fields, present)
  // What it holds is up to those it gathers.
  const selectors = isJsonObject(gathering) ? listIn(gathering, 'clusterRoleSelectors') : []
  const own = getOwn(present, 'aggregationRule')
  return {
    aggregationRule: {
      ...(isJsonObject(own) && own),
      ...withAll('clusterRoleSelectors', selectors, isJsonObject(own) ? own : {}),
    },
  }
}

function missingRules(fields: JsonObject, present: UnstructuredObject): JsonObject {
  if (deepEqual(getOwn(fields, 'rules'), getOwn(present, 'rules'))) return {}
  const missing = uncovered(cachedRulesOf(present), rulesOf(fields)) ?? []
  return missing.length === 0 ? {} : { rules: [...listIn(present, 'rules'), ...missing.map(toRuleObject)] }
}

/** A list with everything in it that must be. */
function withAll(key: string, wanted: readonly JsonValue[], present: JsonObject | UnstructuredObject): JsonObject {
  const list = listIn(present, key)
  const missing = wanted.filter((item) => !list.some((other) => deepEqual(item, other)))
  return missing.length === 0 ? {} : { [key]: [...list, ...missing] }
}

function listIn(object: JsonObject | UnstructuredObject, key: string): readonly JsonValue[] {
  const value = getOwn(object as JsonObject, key)
  return Array.isArray(value) ? value : []
}
