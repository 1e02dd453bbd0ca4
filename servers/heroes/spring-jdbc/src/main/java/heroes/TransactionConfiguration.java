package heroes;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionOperations;
import org.springframework.transaction.support.TransactionTemplate;

@Configuration(proxyBeanMethods = false)
class TransactionConfiguration {

  /**
   * A transaction around a single SELECT buys nothing and costs a second round trip for its COMMIT.
   * The published server had one; no other server of this contract does.
   */
  @Bean
  TransactionOperations transactionOperations(
      PlatformTransactionManager manager, @Value("${heroes.transaction}") boolean wanted) {
    if (!wanted) {
      return TransactionOperations.withoutTransaction();
    }
    var template = new TransactionTemplate(manager);
    template.setReadOnly(true);
    return template;
  }
}
