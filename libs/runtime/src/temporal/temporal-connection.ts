/** How Temporal is reached, as `temporalEnvironment` reads it. */
export interface TemporalConfig {
  TEMPORAL_ADDRESS: string;
  TEMPORAL_NAMESPACE: string;
  TEMPORAL_TLS?: boolean;
  TEMPORAL_CA?: string | undefined;
  TEMPORAL_CLIENT_CERTIFICATE?: string | undefined;
  TEMPORAL_CLIENT_KEY?: string | undefined;
  TEMPORAL_API_KEY?: string | undefined;
  TEMPORAL_WORKER_BUILD_ID?: string | undefined;
}

/** The options of a connection, the same for clients and workers. */
export function temporalConnection(config: TemporalConfig) {
  const { TEMPORAL_CLIENT_CERTIFICATE: certificate, TEMPORAL_CLIENT_KEY: key } = config;
  const tls = {
    ...(config.TEMPORAL_CA !== undefined && { serverRootCACertificate: Buffer.from(config.TEMPORAL_CA) }),
    ...(certificate !== undefined &&
      key !== undefined && { clientCertPair: { crt: Buffer.from(certificate), key: Buffer.from(key) } }),
  };
  return {
    address: config.TEMPORAL_ADDRESS,
    tls: config.TEMPORAL_TLS === true ? tls : false,
    ...(config.TEMPORAL_API_KEY !== undefined && { apiKey: config.TEMPORAL_API_KEY }),
  };
}
