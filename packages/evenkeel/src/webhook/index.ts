/**
 * Layer 3: what an API server asks of others while it works: admission and conversion webhooks, and how they are served.
 */

export {
  deny,
  type AdmissionContext,
  type Mutator,
  type Validator,
  type AdmissionOperation,
  type AdmissionRequest,
  type AdmissionUser,
} from './admission.ts'
export {
  fileCertificates,
  SelfSignedCertificates,
  type CertificateSource,
  type ServerCertificate,
  type FileCertificatesOptions,
  type SelfSignedCertificatesOptions,
} from './certificates.ts'
export { defineConversion, spoke, type Conversion, type Spoke, type SpokeFunctions } from './conversion.ts'
export { runWebhookListener, type WebhookListenerOptions } from './listener.ts'
export { Webhooks, type PathOptions, type WebhooksOptions } from './webhooks.ts'
