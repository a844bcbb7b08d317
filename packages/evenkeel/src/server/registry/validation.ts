/**
 * Validation of an object that is about to be written.
 *
 * All errors are reported at once, each with its field. The rules of the kind come before those of metadata, as in
 * kube-apiserver.
 */
import {
  pushAll,
  checkDnsLabel,
  errorsOfEach,
  fieldError,
  FieldPath,
  foregroundFinalizer,
  invalid,
  orphanFinalizer,
  validateAnnotations,
  validateFinalizers,
  validateLabels,
  validateManagedFields,
  validateNoNewFinalizers,
  validateOwnerReferences,
  type FieldError,
  type UnstructuredObject,
} from '#api'
import type { Resource } from '@evenkeel/builtins'
import type { ResourceRef } from '../request-context.ts'
import { subresourcesWithOwnRules } from './strategy.ts'

/**
 * Validates a new object.
 *
 * @throws {ApiError} `Invalid`, with every error.
 */
export function validateNew(
  object: UnstructuredObject,
  { resource }: ResourceRef,
  { refusals = [] }: ValidateOptions = {},
): void {
  throwIfInvalid(object, resource, refusals)
  throwIfInvalid(object, resource, [
    ...validateMetadata(object, resource),
    ...(resource.strategy.validate?.(object) ?? []),
  ])
}

interface ValidateOptions {
  /** What could not be allocated. Then nothing else is reported. */
  readonly refusals?: readonly FieldError[]
}

interface ValidateChangedOptions extends ValidateOptions {
  readonly target: ResourceRef
  /** Gets errors that the old object had as well; they do not refuse the write. */
  readonly warn: (text: string) => void
}

/**
 * Validates a changed object.
 *
 * @throws {ApiError} `Invalid`, with every error.
 */
export function validateChanged(
  object: UnstructuredObject,
  old: UnstructuredObject,
  { target: { resource, subresource }, refusals = [], warn }: ValidateChangedOptions,
): void {
  throwIfInvalid(object, resource, refusals)
  const { strategy: rules } = resource
  const own =
    subresource?.name === 'status'
      ? (rules.validateStatusUpdate?.(object, old, warn) ?? [])
      : [
          ...(rules.ratcheting ? [] : (rules.validate?.(object) ?? [])),
          ...(subresourcesWithOwnRules.has(subresource?.name ?? '')
            ? []
            : (rules.validateUpdate?.(object, old, warn) ?? [])),
        ]
  throwIfInvalid(object, resource, [
    ...validateMetadata(object, resource),
    ...validateMetadataChange(object, old),
    ...own,
  ])
}

function throwIfInvalid(object: UnstructuredObject, { group, kind }: Resource, errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalid({ group, kind, name: object.metadata.name ?? '' }, errors)
}

const metadataPath = FieldPath.of('metadata')

function validateMetadata(
  { metadata }: UnstructuredObject,
  { scope, strategy: rules, custom }: Resource,
): FieldError[] {
  const {
    name = '',
    generateName = '',
    namespace = '',
    labels,
    annotations,
    finalizers,
    ownerReferences,
    managedFields,
  } = metadata
  const errors: FieldError[] = []
  if (generateName !== '')
    pushAll(
      errors,
      rules
        .checkName(generateName, { prefix: true })
        .map((complaint) => fieldError.invalid(metadataPath.child('generateName'), generateName, complaint)),
    )
  if (name === '') errors.push(fieldError.required(metadataPath.child('name'), 'name or generateName is required'))
  else
    pushAll(
      errors,
      rules.checkName(name).map((complaint) => fieldError.invalid(metadataPath.child('name'), name, complaint)),
    )
  pushAll(errors, validateNamespace(namespace, scope === 'Namespaced'))
  if (labels) pushAll(errors, validateLabels(labels, metadataPath.child('labels')))
  if (annotations) pushAll(errors, validateAnnotations(annotations, metadataPath.child('annotations')))
  if (ownerReferences) pushAll(errors, validateOwnerReferences(ownerReferences, metadataPath.child('ownerReferences')))
  if (finalizers)
    pushAll(errors, [
      ...validateFinalizers(finalizers, metadataPath.child('finalizers')),
      ...(custom ? [] : unqualified(finalizers)),
    ])
  if (managedFields) pushAll(errors, validateManagedFields(managedFields, metadataPath.child('managedFields')))
  return errors
}

const standardFinalizers: ReadonlySet<string> = new Set([
  foregroundFinalizer,
  orphanFinalizer,
  'kubernetes',
  'customresourcecleanup.apiextensions.k8s.io',
])

// Custom resources may have finalizers without a domain, with a warning; built-in kinds may not.
function unqualified(finalizers: readonly string[]): FieldError[] {
  return errorsOfEach(finalizers, (name, index) =>
    name.includes('/') || standardFinalizers.has(name)
      ? []
      : [
          fieldError.invalid(
            metadataPath.child('finalizers').index(index),
            name,
            'name is neither a standard finalizer name nor is it fully qualified',
          ),
        ],
  )
}

function validateNamespace(namespace: string, namespaced: boolean): FieldError[] {
  if (!namespaced)
    return namespace === '' ? [] : [fieldError.forbidden(metadataPath.child('namespace'), 'not allowed on this type')]
  if (namespace === '') return [fieldError.required(metadataPath.child('namespace'))]
  return checkDnsLabel(namespace).map((complaint) =>
    fieldError.invalid(metadataPath.child('namespace'), namespace, complaint),
  )
}

const fixedFields = [
  'name',
  'namespace',
  'uid',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
] as const

function validateMetadataChange({ metadata }: UnstructuredObject, { metadata: old }: UnstructuredObject): FieldError[] {
  const errors = fixedFields
    .filter((field) => (metadata[field] ?? '') !== (old[field] ?? ''))
    .map((field) => fieldError.invalid(metadataPath.child(field), metadata[field] ?? '', 'field is immutable'))
  if (old.deletionTimestamp !== undefined) {
    pushAll(
      errors,
      validateNoNewFinalizers(metadata.finalizers ?? [], old.finalizers ?? [], metadataPath.child('finalizers')),
    )
  }
  return errors
}
