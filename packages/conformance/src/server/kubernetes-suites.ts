/**
 * Kubernetes' own test suites on an Evenkeel server: the counts of the last run, and why tests fail.
 *
 * `npm run judge` takes a failure with a reason for expected, every other one for a finding. The compatibility page shows
 * the same list, so the two cannot disagree. Reasons are of three sorts: a difference on purpose, which the page explains;
 * something that the server does not have; and a test that needs a kube-apiserver, etcd or node of its own.
 */

export const suiteNames = ['e2e', 'cmd', 'apiextensions', 'apply', 'cel', 'admissionwebhook', 'client'] as const
export type SuiteName = (typeof suiteNames)[number]

interface KubernetesSuite {
  /** The path of the tests in Kubernetes. */
  readonly tests: string
  readonly ran: number
  readonly passed: number
  /** Passed and ran at the first run, before its findings were mended. */
  readonly before: string
  readonly failures: readonly ExpectedFailure[]
}

interface ExpectedFailure {
  /** Names of tests; for e2e parts of names. */
  readonly tests: readonly string[]
  readonly reason: string
}

const nodes = 'it needs nodes that run containers'
const etcd = 'it reads or writes the etcd of its kube-apiserver'
const gates = 'it starts a kube-apiserver of an older version, or with a feature gate turned off'
const beta = 'it uses versions of the API that kube-apiserver does not serve by default, and this server never'
const audit =
  'it reads the audit log at once, but the log is written after the response; patches of webhooks are not in it'
const restart = 'it starts a second kube-apiserver on the same etcd; a server in memory starts empty'
const manifests = 'the alpha feature of admission configuration in files does not exist'
const size = 'an object of more than 1.5 MiB is accepted: there is no etcd with that limit'

export const kubernetesSuites: Readonly<Record<SuiteName, KubernetesSuite>> = {
  e2e: {
    tests: 'test/e2e, conformance tests of the API',
    ran: 55,
    passed: 51,
    before: '51 of 54',
    failures: [
      { tests: ['should be able to convert'], reason: `its conversion webhook runs in a pod: ${nodes}` },
      {
        tests: ['CustomResourceFieldSelectors MUST list and watch'],
        reason: `its conversion webhook runs in a pod: ${nodes}`,
      },
      { tests: ['deny attaching pod'], reason: `attach is not supported: ${nodes}` },
      {
        tests: ['ResourceQuota with best effort scope', 'ResourceQuota with terminating scope'],
        reason: 'quotas count objects; scopes and amounts of pods are not evaluated',
      },
      { tests: ['OrderedNamespaceDeletion'], reason: `it waits for a running pod: ${nodes}` },
    ],
  },
  cmd: {
    tests: 'test/cmd, functions of the scripts of kubectl',
    ran: 92,
    passed: 90,
    before: '84 of 92',
    failures: [
      { tests: ['run_multi_resources_tests'], reason: 'it reads files from the internet' },
      {
        tests: ['run_authorization_tests'],
        reason:
          'the mode always-allow allows every authenticated user; the reviewed user has not the group system:authenticated',
      },
    ],
  },
  apiextensions: {
    tests: 'k8s.io/apiextensions-apiserver/test/integration',
    ran: 78,
    passed: 65,
    before: '57 of 74',
    failures: [
      {
        tests: [
          'TestCBORStorageEnablement',
          'TestCustomResourceDefaultingOfMetaFields',
          'TestInvalidObjectMetaInStorage',
          'TestPruningFromStorage',
          'TestEtcdStorage',
          'TestNonStructuralSchemaConditionUpdate',
          'TestNonStructuralSchemaConditionForCRDV1Beta1MigratedData',
        ],
        reason: etcd,
      },
      {
        tests: [
          'TestCBORServingEnablement',
          'TestFieldSelectorDropFields',
          'TestFieldSelectorDisablement',
          'TestRatchetingDropFields',
        ],
        reason: gates,
      },
      {
        tests: ['TestApplyCRDuringCRDFinalization'],
        reason: 'it waits for a condition that is over before the test looks; creations stay forbidden',
      },
      { tests: ['TestLimits'], reason: 'a document of more than 100,000 values gets 413' },
    ],
  },
  apply: {
    tests: 'test/integration/apiserver/apply',
    ran: 57,
    passed: 50,
    before: '47 of 54',
    failures: [
      {
        tests: ['TestApplyCRDNoSchema', 'TestApplyCRDUnhandledSchema', 'TestUpdateStatusWithOldVersion'],
        reason: etcd,
      },
      {
        tests: [
          'TestCreateVeryLargeObject',
          'TestUpdateVeryLargeObject',
          'TestPatchVeryLargeObject',
          'TestPatchVeryLargeObjectCBORApply',
        ],
        reason: size,
      },
    ],
  },
  cel: {
    tests: 'test/integration/apiserver/cel',
    ran: 35,
    passed: 26,
    before: '25 of 35',
    failures: [
      {
        tests: [
          'TestPolicyAdmissionV1beta1',
          'TestMutatingAdmissionPolicy',
          'Test_MutatingAdmissionPolicy_CustomResources',
        ],
        reason: beta,
      },
      {
        tests: ['TestMutatingAdmissionPolicy_Slow'],
        reason: 'it uses beta versions of the API, and expects a time that was never set as null; here it is absent',
      },
      { tests: ['TestStaticPolicyBlocksAPICreation', 'TestStaticPolicyComprehensive'], reason: manifests },
      { tests: ['Test_ValidateAnnotationsAndWarnings'], reason: audit },
      { tests: ['TestCRDsOnStartup'], reason: restart },
      {
        tests: ['TestAuthorizationDecisionCaching'],
        reason: 'it starts a kube-apiserver with an authorization webhook',
      },
    ],
  },
  admissionwebhook: {
    tests: 'test/integration/apiserver/admissionwebhook',
    ran: 19,
    passed: 6,
    before: '5 of 19',
    failures: [
      {
        tests: [
          'TestWebhookAdmissionWithWatchCache',
          'TestWebhookAdmissionWithoutWatchCache',
          'TestWebhookAdmissionWithCBOR',
        ],
        reason: etcd,
      },
      {
        tests: ['TestWebhookClientAuthWithAggregatorRouting', 'TestWebhookClientAuthWithoutAggregatorRouting'],
        reason: 'it gives kube-apiserver credentials for webhooks in an admission configuration file',
      },
      { tests: ['TestBrokenWebhook'], reason: restart },
      { tests: ['TestWebhookLoadBalance'], reason: 'its webhook is behind a Service: there is no cluster network' },
      {
        tests: ['TestWebhookReinvocationPolicyWithWatchCache', 'TestWebhookReinvocationPolicyWithoutWatchCache'],
        reason: audit,
      },
      { tests: ['TestStaticWebhookBlocksAPICreation', 'TestStaticWebhookComprehensive'], reason: manifests },
      {
        tests: ['TestWebhookTimeoutWithWatchCache', 'TestWebhookTimeoutWithoutWatchCache'],
        reason:
          'the 504 after the timeout of a request is a complete Status; that of kube-apiserver has no kind, so Go clients replace its message',
      },
    ],
  },
  client: {
    tests: 'test/integration/client',
    ran: 26,
    passed: 25,
    before: '17 of 27',
    failures: [{ tests: ['TestClient'], reason: 'it compares the version of the server with that of its own program' }],
  },
}
