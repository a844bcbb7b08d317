/**
 * CertificateSigningRequests: the spec is immutable; conditions and the certificate are added later.
 *
 * The signature of the request is not verified. The server fills in the requesting user.
 */
import {
  errorsOfEach,
  pushAll,
  checkDnsLabel,
  fieldError,
  FieldPath,
  numberIn,
  objectIn,
  objectsIn,
  textIn,
  textsIn,
  type FieldError,
  type JsonObject,
  type UnstructuredObject,
} from 'evenkeel/unstable/builtins'
import { ensureDraft, restore } from '../defaulting.ts'
import type { ObjectDraft, WriteContext } from '../resource.ts'
import type { StrategyHooks } from '../strategy-flags.ts'
import { repeatedAt, requireChoice, requireText } from '../validation.ts'

const specPath = FieldPath.of('spec')
const conditionsPath = FieldPath.of('status', 'conditions')
const decisions = ['Approved', 'Denied', 'Failed']
const usages = [
  'any',
  'cert sign',
  'client auth',
  'code signing',
  'content commitment',
  'crl sign',
  'data encipherment',
  'decipher only',
  'digital signature',
  'email protection',
  'encipher only',
  'ipsec end system',
  'ipsec tunnel',
  'ipsec user',
  'key agreement',
  'key encipherment',
  'microsoft sgc',
  'netscape sgc',
  'ocsp signing',
  's/mime',
  'server auth',
  'signing',
  'timestamping',
]

export const certificateSigningRequestStrategy: StrategyHooks = {
  selectableFields: { 'spec.signerName': (object) => textIn(objectIn(object, 'spec'), 'signerName') },
  prepareForCreate(object, { user = {} }) {
    const spec = ensureDraft(object, 'spec')
    for (const key of ['username', 'uid', 'groups', 'extra']) restore(spec, key, user[key])
    object['status'] = {}
  },
  prepareForUpdate: keepRequest,
  validate: (object) => [
    ...validateSpec(objectIn(object, 'spec')),
    ...validateConditions(objectsIn(objectIn(object, 'status'), 'conditions')),
  ],
  validateStatusUpdate: (object, old) => [
    ...validateConditions(objectsIn(objectIn(object, 'status'), 'conditions')),
    ...validateConditionsKept(object, old),
  ],
}

/** The approval subresource changes conditions only, the status subresource also the certificate. */
function keepRequest(object: ObjectDraft, old: UnstructuredObject, { subresource }: WriteContext): void {
  restore(object, 'spec', old['spec'])
  if (subresource !== 'approval') return
  const conditions = objectIn(object, 'status')['conditions']
  restore(object, 'status', old['status'])
  object['status'] = { ...objectIn(object, 'status'), ...(conditions !== undefined && { conditions }) }
}

function validateSpec(spec: JsonObject): FieldError[] {
  const [asked, path, expiration] = [
    textsIn(spec, 'usages'),
    specPath.child('usages'),
    numberIn(spec, 'expirationSeconds'),
  ]
  const errors = validateRequest(textIn(spec, 'request'), specPath.child('request'))
  if (asked.length === 0) errors.push(fieldError.required(path))
  const repeated = repeatedAt(asked)
  asked.forEach((usage, index) => {
    if (!usages.includes(usage)) errors.push(fieldError.notSupported(path.index(index), usage, usages))
    if (repeated.has(index)) errors.push(fieldError.duplicate(path.index(index), usage))
  })
  pushAll(errors, validateSigner(textIn(spec, 'signerName'), specPath.child('signerName')))
  if (expiration !== undefined && expiration < 600) {
    const detail = 'may not specify a duration less than 600 seconds (10 minutes)'
    errors.push(fieldError.invalid(specPath.child('expirationSeconds'), expiration, detail))
  }
  return errors
}

function validateSigner(name: string, path: FieldPath): FieldError[] {
  if (name === '') return [fieldError.required(path)]
  if (name === 'kubernetes.io/legacy-unknown') {
    return [fieldError.invalid(path, name, 'the legacy signerName is not allowed via this API version')]
  }
  const parts = name.split('/')
  if (parts.length !== 2)
    return [
      fieldError.invalid(path, name, "must be a fully qualified domain and path of the form 'example.com/signer-name'"),
    ]
  const [domain = ''] = parts
  const errors = errorsOfEach(domain.split('.'), (label) =>
    checkDnsLabel(label).map((complaint) =>
      fieldError.invalid(path, domain, `validating label "${label}": ${complaint}`),
    ),
  )
  if (domain.includes('.')) return errors
  return [
    ...errors,
    fieldError.invalid(path, domain, 'should be a domain with at least two segments separated by dots'),
  ]
}

function validateRequest(request: string, path: FieldPath): FieldError[] {
  const isRequest = /^\s*-----BEGIN CERTIFICATE REQUEST-----/m.test(Buffer.from(request, 'base64').toString('latin1'))
  return isRequest ? [] : [fieldError.invalid(path, request, 'PEM block type must be CERTIFICATE REQUEST')]
}

function validateConditions(conditions: readonly JsonObject[]): FieldError[] {
  const seen = new Set<string>()
  return errorsOfEach(conditions, (condition, index) => {
    const [path, type] = [conditionsPath.index(index), textIn(condition, 'type')]
    const statuses = decisions.includes(type) ? ['True'] : ['False', 'True', 'Unknown']
    const errors = [
      ...requireText(type, path.child('type')),
      ...requireChoice(textIn(condition, 'status'), path.child('status'), statuses),
    ]
    const opposite = type === 'Approved' ? 'Denied' : 'Approved'
    if ((type === 'Approved' || type === 'Denied') && seen.has(opposite)) {
      errors.push(fieldError.invalid(conditionsPath, type, 'Approved and Denied conditions are mutually exclusive'))
    }
    if (seen.has(type)) errors.push(fieldError.duplicate(path.child('type'), type))
    seen.add(type)
    return errors
  })
}

function validateConditionsKept(object: UnstructuredObject, old: UnstructuredObject): FieldError[] {
  const count = (of: UnstructuredObject, type: string): number =>
    objectsIn(objectIn(of, 'status'), 'conditions').filter((condition) => textIn(condition, 'type') === type).length
  return decisions
    .filter((type) => count(object, type) < count(old, type))
    .map((type) => fieldError.forbidden(conditionsPath, `updates may not remove a condition of type "${type}"`))
}
