/** The user of a credential, before a tenant is chosen. */
export interface Identity {
  userId: string;
  userName: string;
  /** The tenant of the credential. */
  tenantId: string;
  /** Other tenants that the credential allows. */
  tenants: readonly string[];
  permissions: readonly string[];
  /** When the credential expires, in milliseconds since 1970. */
  expiresAt: number;
  /** Of the API key, where the credential is one. */
  apiKeyId?: string;
}
