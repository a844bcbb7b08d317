/**
 * `evenkeel/webhook`: admission and conversion webhooks for a real cluster.
 */
export {
  defineConversion,
  deny,
  fileCertificates,
  SelfSignedCertificates,
  spoke,
  Webhooks,
  type AdmissionContext,
  type AdmissionRequest,
  type CertificateSource,
  type Conversion,
  type Mutator,
  type Validator,
  type WebhooksOptions,
} from '#webhook'
