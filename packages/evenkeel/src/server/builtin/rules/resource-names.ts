/**
 * Names of computing resources (`cpu`, `hugepages-2Mi`, `example.com/gpu`) and where each kind of name may stand.
 */
import { checkQualifiedName, fieldError } from '#api'
import type { FieldError, FieldPath } from '#api'
import { refuse } from './checks.ts'

const objectCounts = [
  'pods',
  'resourcequotas',
  'services',
  'replicationcontrollers',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'services.nodeports',
  'services.loadbalancers',
]
const quotaResources: ReadonlySet<string> = new Set([
  ...objectCounts,
  'cpu',
  'memory',
  'ephemeral-storage',
  'requests.cpu',
  'requests.memory',
  'requests.storage',
  'requests.ephemeral-storage',
  'limits.cpu',
  'limits.memory',
  'limits.ephemeral-storage',
])
const wholeResources: ReadonlySet<string> = new Set(objectCounts)
const containerResources: ReadonlySet<string> = new Set(['cpu', 'memory', 'ephemeral-storage'])

/** Resources that come in whole pieces: counts of objects, and whatever vendors add. */
export function isWholeResource(name: string): boolean {
  return wholeResources.has(name) || isExtendedResource(name)
}

/** Resources that may be promised more often than they are there. */
export function mayOvercommit(name: string): boolean {
  return isNativeResource(name) && !isHugePages(name)
}

export function isHugePages(name: string): boolean {
  return name.startsWith('hugepages-')
}

/** A name that quotas have a meaning for. */
export function isQuotaResource(name: string): boolean {
  return quotaResources.has(name) || isHugePages(name) || name.startsWith('requests.hugepages-')
}

/** A name of any resource. */
export function validateResourceName(name: string, path: FieldPath): FieldError[] {
  const errors = refuse(name, path, checkQualifiedName(name))
  if (errors.length > 0 || name.includes('/') || name === 'storage' || isQuotaResource(name)) return errors
  return [fieldError.invalid(path, name, 'must be a standard resource type or fully qualified')]
}

/** A name of a resource that a container can ask for. */
export function validateContainerResourceName(name: string, path: FieldPath): FieldError[] {
  const errors = validateResourceName(name, path)
  if (!name.includes('/')) {
    if (!containerResources.has(name) && !isHugePages(name))
      errors.push(fieldError.invalid(path, name, 'must be a standard resource for containers'))
  } else if (!isNativeResource(name) && !isExtendedResource(name)) {
    errors.push(fieldError.invalid(path, name, "doesn't follow extended resource name standard"))
  }
  return errors
}

/** A name of a resource that a quota can limit. */
export function validateQuotaResourceName(name: string, path: FieldPath): FieldError[] {
  const errors = validateResourceName(name, path)
  if (!name.includes('/') && !isQuotaResource(name))
    errors.push(fieldError.invalid(path, name, 'must be a standard resource for quota'))
  return errors
}

function isNativeResource(name: string): boolean {
  return !name.includes('/') || name.includes('kubernetes.io/')
}

function isExtendedResource(name: string): boolean {
  if (isNativeResource(name) || name.startsWith('requests.')) return false
  return checkQualifiedName(`requests.${name}`).length === 0
}
