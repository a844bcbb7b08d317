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
  type CertificateSource,
  type Mutator,
  type Validator,
  type WebhooksOptions,
} from '#webhook'
