/**
 * Layer 3: what an API server asks of others while it works: admission and conversion webhooks, and how they are served.
 */
export { deny } from './admission/handlers.ts'
export type { AdmissionContext, Mutator, Validator } from './admission/handlers.ts'
export type { AdmissionOperation, AdmissionRequest, AdmissionUser } from './admission/review.ts'
export type { CertificateSource, ServerCertificate } from './certificates/certificate-source.ts'
export { fileCertificates } from './certificates/file-certificates.ts'
export type { FileCertificatesOptions } from './certificates/file-certificates.ts'
export { SelfSignedCertificates } from './certificates/own-certificates.ts'
export type { SelfSignedCertificatesOptions } from './certificates/own-certificates.ts'
export { defineConversion, spoke } from './conversion/conversion.ts'
export type { Conversion, Spoke, SpokeFunctions } from './conversion/conversion.ts'
export { runWebhookListener } from './serving/listener.ts'
export type { WebhookListenerOptions } from './serving/listener.ts'
export { Webhooks } from './webhooks.ts'
export type { PathOptions, WebhooksOptions } from './webhooks.ts'
