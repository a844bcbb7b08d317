/**
 * Layer 3: what an API server asks of others while it works: admission and conversion webhooks, and how they are served.
 */

export { deny, type AdmissionContext, type Mutator, type Validator } from './admission.ts'
export { fileCertificates, SelfSignedCertificates, type CertificateSource } from './certificates.ts'
export { defineConversion, spoke } from './conversion.ts'
export { runWebhookListener, type WebhookListenerOptions } from './listener.ts'
export { Webhooks, type WebhooksOptions } from './webhooks.ts'
