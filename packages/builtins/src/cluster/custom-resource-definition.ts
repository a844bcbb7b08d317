/**
 * CustomResourceDefinitions as objects: default names, stored versions, and
 * `validateDefinition`. The layer `server` serves the defined resources.
 */
import {
  fieldError,
  FieldPath,
  isSet,
  loadedRuleLanguage,
  loadPatternEngine,
  loadValidationRules,
  matchesPattern,
  objectIn,
  objectsIn,
  patternChecker,
  setCondition,
  textIn,
  textsIn,
  validateCrd,
  validateCrdStatus,
  type Condition,
  type FieldError,
  type JsonObject,
  type JsonObjectDraft,
  type UnstructuredObject,
  type ValidateCrdOptions,
} from 'evenkeel/unstable/builtins'
import { validateClientConfig } from '../admission/webhooks.ts'
import { draftIn, draftsIn, ensureDraft, setDefault, setDefaultText } from '../defaulting.ts'
import type { ObjectDraft } from '../resource.ts'
import type { StrategyHooks } from '../strategy-flags.ts'

export const customResourceDefinitionStrategy: StrategyHooks = {
  default(object) {
    const spec = ensureDraft(object, 'spec')
    const names = ensureDraft(spec, 'names')
    const kind = textIn(names, 'kind')
    if (kind !== '') {
      setDefaultText(names, 'singular', kind.toLowerCase())
      setDefaultText(names, 'listKind', `${kind}List`)
    }
    setDefault(spec, 'conversion', { strategy: 'None' })
    const webhook = draftIn(ensureDraft(spec, 'conversion'), 'webhook')
    const config = webhook && draftIn(webhook, 'clientConfig')
    const service = config && draftIn(config, 'service')
    if (service !== undefined) setDefault(service, 'port', 443)
    draftsIn(spec, 'versions')
    const status = draftIn(object, 'status')
    if (status !== undefined && textsIn(status, 'storedVersions').length === 0) addStoredVersion(spec, status)
  },
  prepareForCreate(object) {
    // The status of a new CRD is never taken from the client.
    object['status'] = {}
    addStoredVersion(objectIn(object, 'spec'), ensureDraft(object, 'status'))
  },
  prepareForUpdate(object) {
    addStoredVersion(objectIn(object, 'spec'), ensureDraft(object, 'status'))
  },
  async loadValidators(object) {
    await loadPatternEngine()
    await loadValidationRules(object)
  },
  // Limits on an unchanged schema, such as its cost, do not apply again.
  ratcheting: true,
  validate: (object) => validateCrd(asJson(object), checks()),
  validateUpdate: (object, old) => [
    ...validateCrd(asJson(object), { ...checks(), old: asJson(old) }),
    ...validateCaBundleChange(bundleOf(object), bundleOf(old)),
  ],
  validateStatusUpdate: (object) => validateCrdStatus(asJson(object)),
}

/** The pattern and CEL validators, which `ready` has loaded. */
function checks(): ValidateCrdOptions {
  return {
    checkClientConfig: validateClientConfig,
    checkPattern: patternChecker(),
    matches: matchesPattern,
    expressions: loadedRuleLanguage(),
  }
}

/** Adds the storage version to `status.storedVersions`. */
function addStoredVersion(spec: JsonObject, status: JsonObjectDraft): void {
  const storage = objectsIn(spec, 'versions').find((version) => isSet(version, 'storage'))
  const stored = textsIn(status, 'storedVersions')
  if (storage === undefined || stored.includes(textIn(storage, 'name'))) return
  status['storedVersions'] = [...stored, textIn(storage, 'name')]
}

/** The authorities of the conversion webhook, as base64. */
function bundleOf(object: UnstructuredObject): string {
  const webhook = objectIn(objectIn(objectIn(object, 'spec'), 'conversion'), 'webhook')
  return textIn(objectIn(webhook, 'clientConfig'), 'caBundle')
}

/** A new CRD with an unreadable bundle is only not established; one that is served must not become unusable. */
function validateCaBundleChange(bundle: string, old: string): FieldError[] {
  if (bundle === old || isPem(bundle) || !isPem(old)) return []
  return [
    fieldError.invalid(
      FieldPath.of('spec', 'conversion', 'webhookClientConfig', 'caBundle'),
      bundle,
      'unable to load root certificates: unable to parse bytes as PEM block',
    ),
  ]
}

function isPem(bundle: string): boolean {
  return bundle === '' || Buffer.from(bundle, 'base64').includes('-----BEGIN CERTIFICATE-----')
}

function asJson(object: UnstructuredObject): JsonObject {
  return object
}

// Deletion of a CRD: a finalizer keeps it until its instances are deleted.

/** The finalizer that keeps a CRD until its instances are deleted. */
export const crdCleanupFinalizer = 'customresourcecleanup.apiextensions.k8s.io'

export const definitionDeletionStrategy: StrategyHooks = {
  definesResources: true,
  deletion: {
    blocksDeletion: ({ metadata }) => metadata.deletionTimestamp === undefined,
    markDeleting: markTerminating,
  },
}

function markTerminating(object: ObjectDraft): void {
  const { metadata } = object
  const finalizers = textsIn(metadata, 'finalizers')
  if (!finalizers.includes(crdCleanupFinalizer)) metadata['finalizers'] = [...finalizers, crdCleanupFinalizer]
  const status = ensureDraft(object, 'status')
  const condition = {
    type: 'Terminating',
    status: 'True',
    reason: 'InstanceDeletionPending',
    message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
  } as const
  const now = textIn(metadata, 'deletionTimestamp')
  status['conditions'] = setCondition(objectsIn(status, 'conditions') as readonly Condition[], condition, {
    now,
  })
}
