package petclinic.owner;

import jakarta.validation.constraints.NotBlank;
import jakarta.validation.constraints.NotNull;
import jakarta.validation.constraints.Pattern;
import jakarta.validation.constraints.Size;

/** What is typed into the form of an owner. */
public class OwnerForm {

    @NotBlank(message = "Required")
    @Size(max = 64, message = "At most {max} characters")
    private String firstName;

    @NotBlank(message = "Required")
    @Size(max = 64, message = "At most {max} characters")
    private String lastName;

    @NotBlank(message = "Required")
    @Size(max = 255, message = "At most {max} characters")
    private String address;

    @NotBlank(message = "Required")
    @Size(max = 64, message = "At most {max} characters")
    private String city;

    @NotNull(message = "10 digits, nothing else")
    @Pattern(regexp = "[0-9]{10}", message = "10 digits, nothing else")
    private String telephone;

    static OwnerForm of(Owner owner) {
        OwnerForm form = new OwnerForm();
        form.firstName = owner.getFirstName();
        form.lastName = owner.getLastName();
        form.address = owner.getAddress();
        form.city = owner.getCity();
        form.telephone = owner.getTelephone();
        return form;
    }

    public String getFirstName() {
        return firstName;
    }

    public void setFirstName(String firstName) {
        this.firstName = firstName;
    }

    public String getLastName() {
        return lastName;
    }

    public void setLastName(String lastName) {
        this.lastName = lastName;
    }

    public String getAddress() {
        return address;
    }

    public void setAddress(String address) {
        this.address = address;
    }

    public String getCity() {
        return city;
    }

    public void setCity(String city) {
        this.city = city;
    }

    public String getTelephone() {
        return telephone;
    }

    public void setTelephone(String telephone) {
        this.telephone = telephone;
    }
}
